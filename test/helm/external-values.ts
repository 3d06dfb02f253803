// SPDX-License-Identifier: Apache-2.0
/** Values of external-signer. */
const ONE = { signers: [{ name: 'example.com/workload' }] };
const ENABLED = { components: { 'external-signer': { enabled: true } } };
const VAULT = 'https://vault.example.com:8200';

/** Values that the chart and the source take alike. */
export const EXTERNAL_GOOD: Readonly<Record<string, readonly [values: object]>> = {
  'external signers alone': [
    {
      ...ENABLED,
      external: { signers: ['example.com/corporate'], vaults: [VAULT] },
    },
  ],
  'external signers whose component is not enabled': [
    {
      ...ONE,
      external: { signers: ['example.com/corporate'], vaults: [VAULT] },
    },
  ],
  'external signers beside others, with permission to read pods': [
    {
      ...ONE,
      ...ENABLED,
      podServices: true,
      external: { signers: ['example.com/corporate', 'example.com/more'], vaults: [] },
    },
  ],
};

/** Values that are refused: what is wrong, and what the message says of it. */
export const EXTERNAL_BAD: Readonly<Record<string, readonly [values: object, says: RegExp]>> = {
  'an external signer that is a ClusterSigner': [
    { ...ONE, external: { signers: ['example.com/workload'] } },
    /external\.signers\[0\]: "example\.com\/workload" is also in signers; leave one/,
  ],
  'an external signer that is one of ACME': [
    {
      ...ONE,
      acme: { signers: [{ name: 'example.com/public' }] },
      external: { signers: ['example.com/public'] },
    },
    /external\.signers\[0\]: "example\.com\/public" is also in acme\.signers; leave one/,
  ],
  'an external signer in a domain of Kubernetes': [
    { ...ONE, external: { signers: ['team.kubernetes.io/corporate'] } },
    /external\.signers\[0\]: "team\.kubernetes\.io\/corporate" is in a domain reserved for/,
  ],
  'an external signer with the name of the components’ own': [
    { ...ONE, external: { signers: ['countersign.dev/serving'] } },
    /external\.signers\[0\]: "countersign\.dev\/serving" is always served; leave it out/,
  ],
  'an external signer with the derived name of an AcmeSigner': [
    { ...ONE, external: { signers: ['acmesigners.acme.countersign.dev/team-a.ca'] } },
    /external\.signers\[0\]: .* is the derived name of an AcmeSigner; set namespacedSigners/,
  ],
  'an external signer twice': [
    { ...ONE, external: { signers: ['example.com/a', 'example.com/a'] } },
    /external\.signers\[1\]: "example\.com\/a" is named twice; leave one of them out/,
  ],
  'a server of an external signer twice': [
    { ...ONE, external: { vaults: [VAULT, VAULT] } },
    /external\.vaults\[1\]: "https:\/\/vault\.example\.com:8200" is listed twice/,
  ],
};
