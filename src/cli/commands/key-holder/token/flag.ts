// SPDX-License-Identifier: Apache-2.0
/** The hidden flag by which `countersign key-holder` runs as the process of a token. */
export const TOKEN_PROCESS_FLAG = '--token-process';
