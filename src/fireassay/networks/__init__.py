"""Small torch networks that several questions need. Using one imports torch."""

from typing import TYPE_CHECKING

from fireassay.core.lazy import lazy_names

if TYPE_CHECKING:
    from fireassay.networks.resnet import ResNet as ResNet
    from fireassay.networks.small_networks import Cnn as Cnn
    from fireassay.networks.small_networks import DropoutCnn as DropoutCnn
    from fireassay.networks.small_networks import Mlp as Mlp
    from fireassay.networks.training import Training as Training
    from fireassay.networks.training import train as train

lazy_names(__name__)
