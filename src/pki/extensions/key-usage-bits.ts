// SPDX-License-Identifier: Apache-2.0

/** Names of the KeyUsage bits in their order (RFC 5280 §4.2.1.3). */
export const KEY_USAGE_BITS = [
  'digitalSignature',
  'nonRepudiation',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
  'decipherOnly',
] as const;

export type KeyUsageBit = (typeof KEY_USAGE_BITS)[number];
