# SPDX-License-Identifier: Apache-2.0

"""`/console/`: the web application as static files, and the sign-in of its users."""
