// SPDX-License-Identifier: Apache-2.0
import type { KeyUsage } from '#base/vocabulary.ts';

/** id-kp (RFC 5280 §4.2.1.12). */
export const KP = '1.3.6.1.5.5.7.3';

/** certificates.k8s.io KeyUsage → bit or purpose, as kube-controller-manager's signer has it. */
export const MEANINGS: Readonly<Record<KeyUsage, string>> = {
  signing: 'digitalSignature',
  'digital signature': 'digitalSignature',
  'content commitment': 'nonRepudiation',
  'key encipherment': 'keyEncipherment',
  'key agreement': 'keyAgreement',
  'data encipherment': 'dataEncipherment',
  'cert sign': 'keyCertSign',
  'crl sign': 'cRLSign',
  'encipher only': 'encipherOnly',
  'decipher only': 'decipherOnly',
  any: '2.5.29.37.0',
  'server auth': `${KP}.1`,
  'client auth': `${KP}.2`,
  'code signing': `${KP}.3`,
  'email protection': `${KP}.4`,
  's/mime': `${KP}.4`,
  'ipsec end system': `${KP}.5`,
  'ipsec tunnel': `${KP}.6`,
  'ipsec user': `${KP}.7`,
  timestamping: `${KP}.8`,
  'ocsp signing': `${KP}.9`,
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
};
