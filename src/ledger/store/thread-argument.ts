// SPDX-License-Identifier: Apache-2.0
/** Argument by which a thread of the ledger's database starts this program. */
export const LEDGER_THREAD = '__ledger-thread';
