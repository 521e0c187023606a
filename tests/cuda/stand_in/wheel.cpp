// SPDX-License-Identifier: Apache-2.0
int of_the_wheel() { return -1; }
