"""Where networks run."""

from __future__ import annotations

import torch


def pick_device(name: str = "auto") -> torch.device:
    """Return the device ``name``, or the best one there is for ``auto``."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    device = torch.device(name)
    if device.type == "cuda":
        # cuDNN's attention builds a plan for every new shape (milliseconds each), and no two batches here are alike.
        torch.backends.cuda.enable_cudnn_sdp(False)
    return device
