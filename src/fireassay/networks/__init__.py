"""Small torch networks that several questions need. Using one imports torch."""

from typing import TYPE_CHECKING

from fireassay.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from fireassay.networks.cnn import Cnn
    from fireassay.networks.dropout_cnn import DropoutCnn
    from fireassay.networks.mlp import Mlp
    from fireassay.networks.resnet import ResNet
    from fireassay.networks.training import Training, train

__all__ = ["Cnn", "DropoutCnn", "Mlp", "ResNet", "Training", "train"]

lazy_names(__name__)
