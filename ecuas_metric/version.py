"""The version, and what to cite, which nothing large is imported for."""

VERSION = "0.6.0"
BIBTEX = r"""@misc{estienne2026ecuas,
  title  = {{ECUAS}$_n$: A family of metrics for principled evaluation of uncertainty-augmented systems},
  author = {Estienne, Lautaro and Ernst, Erik and Vera, Mat{\'i}as and Piantanida, Pablo and Ferrer, Luciana},
  year   = {2026},
  eprint = {2605.20490},
  archivePrefix = {arXiv}
}
"""
