# SPDX-License-Identifier: Apache-2.0

"""Programs that the tests run with the Python of `.venv-cloud`, where the clients are installed."""
