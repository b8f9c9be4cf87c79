"use strict";
// A choice that is shown at once.
for (const box of document.querySelectorAll("[data-submit]")) box.addEventListener("change", () => box.form.submit());
