// SPDX-License-Identifier: Apache-2.0
/** Values of key holders, as in values.ts. */

const WORKLOAD = 'example.com/workload';

/** A key, with limits of every kind of names. */
const KEY = {
  name: 'workload',
  secret: 'workload-key',
  signerNames: [WORKLOAD],
  leaf: {
    maxDuration: '24h',
    keyTypes: ['ECDSAP256', 'ED25519'],
    names: { uris: ['spiffe://cluster[.]local/ns/team-[a-z0-9-]+/sa/.*'] },
  },
};
const ENCRYPTED = {
  ...KEY,
  name: 'next',
  secret: 'next-key',
  encrypted: true,
  leaf: {
    maxDuration: '1h',
    maxBackdate: '1m',
    maxPostdate: '0s',
    usages: ['digital signature'],
    names: { dnsNames: ['[a-z]+[.]example[.]com'], ipAddresses: ['10.0.0.0/8', 'fd00::/8'] },
    crlUrls: ['http://crl.example.com/workload.crl'],
  },
};

/** A key in a token, and the module for it. */
const IN_TOKEN = {
  ...KEY,
  name: 'hsm',
  secret: 'hsm-pin',
  pkcs11: { token: 'Workload CAs', label: 'ca 2026', id: '0a1b' },
};
const MODULE = {
  image: 'registry.example/countersign-hsm@sha256:0123',
  module: '/usr/lib/vendor/libpkcs11.so',
  env: [
    { name: 'VENDOR_CONF', value: '/run/countersign/module/vendor.conf' },
    { name: 'LANG', value: 'C' },
  ],
  files: 'hsm-client',
};

const held = (serves?: readonly string[]): object => ({
  name: WORKLOAD,
  keyHolder: true,
  ...(serves === undefined ? {} : { serves }),
});
const inPods = (...keys: readonly object[]): object => ({ 'pcr-issuer': { keyHolder: { keys } } });

export const GOOD_KEY_HOLDER: Readonly<Record<string, readonly [values: object]>> = {
  'a signer whose key is in a key holder': [{ signers: [held(['pods'])], components: inPods(KEY) }],
  'a key holder of each component, with two keys, beside a CA in a Secret': [
    {
      signers: [held(), { name: 'example.com/people', serves: ['requests'] }],
      components: {
        'pcr-issuer': {
          keyHolder: {
            keys: [KEY, ENCRYPTED],
            resources: { requests: { cpu: '100m' }, limits: { cpu: 1, memory: '512Mi' } },
          },
          affinity: { nodeAffinity: {} },
          extraArgs: ['--log-level=debug'],
        },
        signer: { keyHolder: { keys: [KEY] } },
        'certificate-request': { keyHolder: { keys: [ENCRYPTED] } },
      },
      image: { repository: 'registry.example/c', pullPolicy: 'Always' },
    },
  ],
  'a key in a PKCS#11 token beside one in a Secret, with files of the module': [
    {
      signers: [held(['pods'])],
      components: { 'pcr-issuer': { keyHolder: { keys: [IN_TOKEN, KEY], pkcs11: MODULE } } },
      image: { pullPolicy: 'Always' },
    },
  ],
  'a key in a PKCS#11 token alone, with more memory for the module': [
    {
      signers: [held(['pods'])],
      components: {
        'pcr-issuer': {
          keyHolder: {
            keys: [{ ...IN_TOKEN, pkcs11: { token: 'ca', label: 'ca' } }],
            pkcs11: { image: 'hsm:1', module: '/p11.so' },
            resources: { limits: { memory: '1Gi' } },
          },
        },
      },
    },
  ],
  'a key holder before its signer moves to it, with other keys in a namespace of their own': [
    { signers: [{ name: WORKLOAD }], keysNamespace: 'pki-keys', components: inPods(KEY) },
  ],
  'key holders alone, with a namespace of keys that has none': [
    {
      signers: [held(['pods'])],
      keysNamespace: 'pki-keys',
      components: inPods(KEY),
      ledger: { mode: 'required' },
    },
  ],
};

export const BAD_KEY_HOLDER: Readonly<Record<string, readonly [values: object, says: RegExp]>> = {
  'a key in a holder, and a Secret of the CA': [
    {
      signers: [{ name: WORKLOAD, keyHolder: true, secret: 'workload-ca', serves: ['pods'] }],
      components: inPods(KEY),
    },
    /signers\[0\]\.secret: its key is in a key holder, so no Secret has it; leave secret out/,
  ],
  'a signer that also serves requests of a component without its key': [
    { signers: [held()], components: inPods(KEY) },
    /signers\[0\]\.keyHolder: components\.signer\.keyHolder has no key for "example\.com\/workload"; add one, or leave requests out/,
  ],
  'a key holder whose keys are for another signer': [
    {
      signers: [held(['pods']), { name: 'example.com/people' }],
      components: inPods({ ...KEY, signerNames: ['example.com/people'] }),
    },
    /signers\[0\]\.keyHolder: components\.pcr-issuer\.keyHolder has no key for/,
  ],
  'a signer name that is not served': [
    {
      signers: [{ name: WORKLOAD }],
      components: inPods({ ...KEY, signerNames: [WORKLOAD, 'example.com/peple'] }),
    },
    /components\.pcr-issuer\.keyHolder\.keys\[0\]\.signerNames\[1\]: "example\.com\/peple" is not in signers/,
  ],
  'two keys of one name': [
    { signers: [held(['pods'])], components: inPods(KEY, { ...KEY, secret: 'other' }) },
    /components\.pcr-issuer\.keyHolder\.keys\[1\]\.name: "workload" is named twice/,
  ],
  'a Secret that a component may read': [
    {
      signers: [held(['pods'])],
      components: inPods({ ...KEY, secret: 'countersign-pcr-issuer-serving' }),
    },
    /keyHolder\.keys\[0\]\.secret: "countersign-pcr-issuer-serving" begins with countersign-/,
  ],
  'a request of the sidecar above its limit': [
    {
      signers: [held(['pods'])],
      components: {
        'pcr-issuer': { keyHolder: { keys: [KEY], resources: { limits: { memory: '1Mi' } } } },
      },
    },
    /components\.pcr-issuer\.keyHolder\.resources: the request of memory, \d+Mi, is greater than the limit, 1Mi/,
  ],
  'a sidecar with a space in a quantity': [
    {
      signers: [held(['pods'])],
      components: {
        'pcr-issuer': { keyHolder: { keys: [KEY], resources: { limits: { memory: '64 Mi' } } } },
      },
    },
    /components\.pcr-issuer\.keyHolder\.resources\.limits\.memory: "64 Mi" is not a quantity/,
  ],
  'a key in a token without a module': [
    { signers: [held(['pods'])], components: inPods(IN_TOKEN) },
    /keys\[0\]\.pkcs11: the key needs components\.pcr-issuer\.keyHolder\.pkcs11, which is absent/,
  ],
  'a key in a token with a passphrase': [
    {
      signers: [held(['pods'])],
      components: {
        'pcr-issuer': { keyHolder: { keys: [{ ...IN_TOKEN, encrypted: true }], pkcs11: MODULE } },
      },
    },
    /keys\[0\]\.encrypted: a key in a token has no passphrase; remove encrypted, or pkcs11/,
  ],
  'files of a module in a Secret that a component may read': [
    {
      signers: [held(['pods'])],
      components: {
        'pcr-issuer': {
          keyHolder: {
            keys: [IN_TOKEN],
            pkcs11: { ...MODULE, files: 'countersign-signer-serving' },
          },
        },
      },
    },
    /keyHolder\.pkcs11\.files: "countersign-signer-serving" begins with countersign-/,
  ],
  'a label that would be another one within the argument': [
    {
      signers: [held(['pods'])],
      components: {
        'pcr-issuer': {
          keyHolder: {
            keys: [{ ...IN_TOKEN, pkcs11: { token: '$(PIN)', label: 'x' } }],
            pkcs11: MODULE,
          },
        },
      },
    },
    /pkcs11\/token.*does not match pattern/,
  ],
  'no valid Secret of a key': [
    { signers: [held(['pods'])], components: inPods({ ...KEY, secret: '-x' }) },
    /keyHolder\.keys\[0\]\.secret: "-x" is not a valid name of a Secret; write one such as/,
  ],
  'a key holder of a component that signs nothing': [
    { signers: [{ name: WORKLOAD }], components: { approver: { keyHolder: { keys: [KEY] } } } },
    /additional properties 'keyHolder' not allowed/,
  ],
  'a pattern that would be another one within the argument': [
    {
      signers: [held(['pods'])],
      components: inPods({
        ...KEY,
        leaf: { maxDuration: '1h', names: { uris: ['a\\.b$(HOME)'] } },
      }),
    },
    /names\/uris\/0.*does not match pattern/,
  ],
  'a key holder without keys': [
    { signers: [{ name: WORKLOAD }], components: { signer: { keyHolder: { keys: [] } } } },
    /components\/signer\/keyHolder\/keys.*minItems/,
  ],
};
