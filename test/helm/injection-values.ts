// SPDX-License-Identifier: Apache-2.0
/** Values of injection, each by what is special about it. */

const ONE = { signers: [{ name: 'example.com/workload' }] };

/** What is installed. */
export const GOOD_INJECTION = {
  'injection for each signer': [
    {
      signers: [{ name: 'example.com/workload' }, { name: 'example.com/web.tls' }],
      injection: { enabled: true },
    },
  ],
  'injection where a signer has no bundle': [
    {
      signers: [{ name: 'example.com/workload' }, { name: 'example.com/people', bundle: '' }],
      injection: { enabled: true },
    },
  ],
  'injection by profiles of its own': [
    {
      ...ONE,
      injection: {
        enabled: true,
        profiles: [
          { name: 'workload', signerName: 'example.com/workload' },
          {
            name: 'db-client',
            signerName: 'example.org/db.clients',
            keyType: 'ED25519',
            maxExpirationSeconds: 7_862_400,
            mountPath: '/var/lib/client-tls',
            trustBundle: false,
            env: [{ name: 'PGSSLKEY', file: 'key.pem' }],
          },
        ],
      },
    },
  ],
  'profiles that are not enabled': [
    {
      ...ONE,
      injection: { profiles: [{ name: 'workload', signerName: 'example.com/workload' }] },
    },
  ],
} as const;

/** What is refused, and what is said. */
export const BAD_INJECTION: Readonly<Record<string, readonly [values: object, says: RegExp]>> = {
  'injection without a profile or a signer': [
    { namespacedSigners: { enabled: true }, injection: { enabled: true } },
    /injection\.profiles: it is empty, and no signer has a bundle; name at least one profile/,
  ],
  'injection where no signer has a bundle': [
    { signers: [{ name: 'example.com/people', bundle: '' }], injection: { enabled: true } },
    /injection\.profiles: it is empty, and no signer has a bundle; name at least one profile/,
  ],
  'a signer whose path makes no name of a profile': [
    { signers: [{ name: `example.com/${'a'.repeat(50)}` }], injection: { enabled: true } },
    /injection\.profiles\[0\]\.name: "a{50}" is not a valid name; write profiles with names/,
  ],
  'a profile named twice': [
    {
      ...ONE,
      injection: {
        enabled: true,
        profiles: [
          { name: 'a', signerName: 'example.com/a' },
          { name: 'a', signerName: 'example.com/a' },
        ],
      },
    },
    /injection\.profiles\[1\]\.name: "a" is named twice; write another name/,
  ],
  'a profile inside another': [
    {
      ...ONE,
      injection: {
        enabled: true,
        profiles: [
          { name: 'a', signerName: 'example.com/a', mountPath: '/tls' },
          { name: 'b', signerName: 'example.com/a', mountPath: '/tls/x' },
        ],
      },
    },
    /injection\.profiles\[1\]\.mountPath: "\/tls\/x" and "\/tls" are one inside the other; write another/,
  ],
  'a variable of two profiles': [
    {
      ...ONE,
      injection: {
        enabled: true,
        profiles: [
          { name: 'a', signerName: 'example.com/a', env: [{ name: 'KEY', file: 'key.pem' }] },
          { name: 'b', signerName: 'example.com/a', env: [{ name: 'KEY', file: 'key.pem' }] },
        ],
      },
    },
    /injection\.profiles\[1\]\.env: "KEY" is set twice; write another name/,
  ],
  'a path with a quote': [
    {
      ...ONE,
      injection: {
        enabled: true,
        profiles: [{ name: 'a', signerName: 'example.com/a', mountPath: "/a'" }],
      },
    },
    /injection\/profiles\/0\/mountPath/,
  ],
};
