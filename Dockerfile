# docker build -t fireassay . && docker run --rm -v "$PWD:/assay" fireassay run
FROM python:3.11-slim
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src ./src
RUN pip install --no-cache-dir -c constraints.txt '.[all]' \
    && useradd --create-home assayer
USER assayer
WORKDIR /assay
ENV OMP_NUM_THREADS=1
ENTRYPOINT ["fireassay"]
CMD ["--help"]
