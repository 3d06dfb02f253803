// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { usageBits } from '../../src/pki/usages.ts';
import { KEY_USAGES } from '../../src/vocabulary.ts';
import { refuses } from '../support/refuses.ts';

const KP = '1.3.6.1.5.5.7.3';

/** certificates.k8s.io KeyUsage → bit or purpose, as kube-controller-manager's signer has it. */
const ROWS: Readonly<Record<string, string>> = {
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

describe('each usage of the API is one bit or one purpose', () => {
  for (const usage of KEY_USAGES) {
    test(usage, () => {
      const { keyUsage, extKeyUsage } = usageBits([usage]);
      assert.deepEqual([...keyUsage, ...extKeyUsage], [ROWS[usage]]);
    });
  }
});

test('usages have one order and no repetition, however they are asked for', () => {
  const asked = [
    'client auth',
    's/mime',
    'server auth',
    'email protection',
    'key encipherment',
    'signing',
    'digital signature',
  ];
  const wanted = {
    keyUsage: ['digitalSignature', 'keyEncipherment'],
    extKeyUsage: [`${KP}.1`, `${KP}.2`, `${KP}.4`],
  };
  assert.deepEqual(usageBits(asked), wanted);
  assert.deepEqual(usageBits(asked.toReversed()), wanted);
  assert.deepEqual(usageBits([...asked, ...asked]), wanted);
});

describe('a usage that the API does not know is refused', () => {
  for (const usage of [
    '',
    'Server Auth',
    'server auth ',
    'constructor',
    '__proto__',
    'toString',
    'x'.repeat(9999),
  ]) {
    test(JSON.stringify(usage.slice(0, 20)), () => {
      refuses(() => usageBits(['server auth', usage]), 'USAGE_UNKNOWN', /^.{1,200}$/);
    });
  }
});
