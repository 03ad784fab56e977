# SPDX-License-Identifier: Apache-2.0

"""What the tests start with the Python of `.venv-cloud`, where the clients are installed."""
