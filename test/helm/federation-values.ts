// SPDX-License-Identifier: Apache-2.0
/** Values of federation, for values.ts. */
const ONE = { signers: [{ name: 'example.com/workload' }] };

const FOREIGN = { name: 'a.example', profile: 'https_web', url: 'https://a.example/' };

function federates(change: object, more: object = {}): object {
  return { ...ONE, federation: { trustDomains: [{ ...FOREIGN, ...change }], ...more } };
}

export const GOOD_FEDERATION: Readonly<Record<string, readonly [values: object]>> = {
  'foreign trust domains by either profile, and whom their component may call': [
    {
      ...ONE,
      components: { federation: { enabled: true } },
      federation: {
        trustDomains: [
          {
            name: 'partner.example',
            profile: 'https_web',
            url: 'https://bundle.partner.example/a,b?c=%2F&d',
          },
          {
            name: '1e3',
            profile: 'https_spiffe',
            url: 'https://other.example:8443/',
            serverId: 'spiffe://other.example/bundle-endpoint',
          },
        ],
        endedTrustDomains: ['was.example', '1e4'],
        ownTrustDomains: ['prod.example.com', '0x1'],
        networks: ['10.0.0.0/8', 'fd00::/8'],
        keep: '3h',
        egress: [
          { ports: [{ port: 53, protocol: 'UDP' }] },
          { to: [{ ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.0.0/16'] } }] },
        ],
      },
    },
  ],
  'a bundle endpoint with an SVID by a signer of ours': [
    {
      ...ONE,
      components: { 'bundle-endpoint': { enabled: true } },
      bundleEndpoint: { svidSigner: 'example.com/workload' },
    },
  ],
  'federation without a foreign trust domain': [
    { ...ONE, components: { federation: { enabled: true } } },
  ],
};

export const BAD_FEDERATION: Readonly<Record<string, readonly [values: object, says: RegExp]>> = {
  'a foreign trust domain that is no name': [
    federates({ name: 'a..b' }),
    /federation\.trustDomains\[0\]\.name: "a\.\.b" is not the name of a trust domain; write it without/,
  ],
  'a foreign trust domain that is our own': [
    federates({}, { ownTrustDomains: ['a.example'] }),
    /federation\.trustDomains\[0\]\.name: "a\.example" is your own trust domain; leave one/,
  ],
  'a foreign trust domain twice': [
    federates({}, { trustDomains: [FOREIGN, FOREIGN] }),
    /federation\.trustDomains\[1\]\.name: "a\.example" is named twice; leave one of them out/,
  ],
  'a trust domain that has ended and is no name': [
    federates({}, { endedTrustDomains: ['a..b'] }),
    /federation\.endedTrustDomains\[0\]: "a\.\.b" is not the name of a trust domain; write it/,
  ],
  'a trust domain that has ended and is fetched': [
    federates({}, { endedTrustDomains: ['a.example'] }),
    /federation\.endedTrustDomains\[0\]: "a\.example" is in federation\.trustDomains, too; leave/,
  ],
  'https_spiffe without an ID': [
    federates({ profile: 'https_spiffe' }),
    /federation\.trustDomains\[0\]\.serverId: write the SPIFFE ID of the endpoint where profile/,
  ],
  'https_web with an ID': [
    federates({ serverId: 'spiffe://a.example/b' }),
    /federation\.trustDomains\[0\]\.serverId: write the SPIFFE ID of the endpoint where profile/,
  ],
  'a signer of the SVID that is no signer name': [
    { ...ONE, bundleEndpoint: { svidSigner: 'workload' } },
    /bundleEndpoint\/svidSigner.*does not match pattern/,
  ],
  'a bundle endpoint without TLS': [
    federates({ url: 'http://a.example/' }),
    /trustDomains\/0\/url.*does not match pattern/,
  ],
};
