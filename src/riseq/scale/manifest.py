"""The manifest of an output folder: what made it, what is in it, and what went wrong."""

from __future__ import annotations

import json
from typing import Any

from riseq.scale.storage import Folder
from riseq.types import InputError

MANIFEST = "_riseq.json"
SETTINGS = "settings"


def read_manifest(folder: Folder, resume: bool) -> dict[str, Any] | None:
    """Return the manifest of an earlier run into ``folder``, which is only to be had where ``resume``; else None."""
    files = folder.list()
    if MANIFEST not in files:
        if files:
            raise InputError(
                f"{folder.name}: has files ({min(files)} and others) but no {MANIFEST}; expected a new or empty folder"
            )
        return None
    try:
        manifest = json.loads(folder.read(MANIFEST))
        if not isinstance(manifest[SETTINGS], dict):
            raise TypeError
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{folder.name}/{MANIFEST}: is no manifest of riseq; name another folder") from None
    if not resume:
        raise InputError(
            f"{folder.name}: has the output of a run ({manifest.get('state')}); --resume does what is missing, or "
            "delete the folder to start again"
        )
    return dict(manifest)
