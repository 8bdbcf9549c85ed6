"""The ground floor: checks, errors, declared estimators, seeds, progress, files and saved models.

Every other room stands on this one, and this one imports none of them.
"""

from .checks import (check_array, check_choice, check_float, check_int, check_kind, check_rate,
                     check_rounds, check_seed, check_threads, nearest_name, shown, taken,
                     unknown_keyword, warn_data)
from .devices import DeviceReport, available_cores, device_report, torch_device
from .documents import checked_batches, checked_texts, checked_token_lists
from .errors import (BackendUnavailable, DamagedFile, DataMissing, DataWarning, DownloadFailed,
                     NotFittedError, ProgramFailed, TrainingDiverged, UnknownWord)
from .estimator import Composed, Encoder, Estimator
from .files import (atomic_folder, atomic_open, checked_path, existing_path, fingerprint, read_json,
                    sha256, write_json, write_text)
from .interruption import asked_to_stop
from .memory import check_memory, free_memory
from .paths import PROJECT, cache_folder, external_data_folder, output_folder
from .progress import track
from .random import children, generator
from .store import load_files, load_model, save_files, save_model

__all__ = [
    "PROJECT", "BackendUnavailable", "Composed", "DamagedFile", "DataMissing", "DataWarning",
    "DeviceReport", "DownloadFailed", "Encoder", "Estimator", "NotFittedError", "ProgramFailed",
    "TrainingDiverged", "UnknownWord", "asked_to_stop", "atomic_folder", "atomic_open",
    "available_cores", "cache_folder", "check_array", "check_choice", "check_float",
    "check_int", "check_kind", "check_memory", "check_rate", "check_rounds", "check_seed",
    "check_threads", "checked_batches", "checked_path", "checked_texts", "checked_token_lists",
    "children", "device_report", "existing_path", "external_data_folder", "fingerprint",
    "free_memory", "generator", "load_files", "load_model", "nearest_name", "output_folder",
    "read_json", "save_files", "save_model", "sha256", "shown", "taken", "torch_device", "track",
    "unknown_keyword", "warn_data", "write_json", "write_text"
]
