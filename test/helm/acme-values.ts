// SPDX-License-Identifier: Apache-2.0
/** Values of ACME, each by what is special about it. */

const ONE = { signers: [{ name: 'example.com/workload' }] };

/** Values that are installed. */
export const ACME_GOOD: Readonly<Record<string, readonly [values: object, namespace?: string]>> = {
  'ACME signers, and what AcmeSigners may have called': [
    {
      ...ONE,
      namespacedSigners: { enabled: true },
      components: { acme: { enabled: true }, 'acme-solver': { enabled: true } },
      acme: {
        signers: [
          { name: 'example.com/public' },
          { name: 'example.com/paid', accountSecret: 'a.b', externalAccountSecret: 'eab' },
        ],
        servers: ['https://acme.example:14000/dir'],
        solvers: ['rfc2136=ns1.example.com:53', 'acmeDNS=https://auth.example.com'],
        networks: ['10.0.0.0/8', 'fd00::/8'],
        http01Zones: ['team-a=team-a.example.com', 'team-b=b.example'],
      },
    },
  ],
  'ACME alone, with all that it may read and ask': [
    {
      namespacedSigners: { enabled: true },
      components: {
        acme: { enabled: true },
        'acme-solver': { enabled: true },
        'acme-responder': { enabled: true },
      },
      acme: {
        signers: [{ name: 'example.com/public', externalAccountSecret: 'eab' }],
        renewCertificates: true,
        secrets: [
          { namespace: 'team-a', name: 'account' },
          { namespace: 'team-b', name: 'account' },
          { namespace: 'team-a', name: 'eab' },
          { namespace: 'team-a', name: 'account' },
        ],
        solverSecrets: [
          { namespace: 'countersign-dns', name: 'dns-example-com' },
          { namespace: 'team-a', name: 'dns' },
        ],
        dnsWebhooks: ['acme.example.com', 'acme.example.org/hetzner'],
        routeMetadata: ['team=edge', 'nginx.ingress.kubernetes.io/ssl-redirect=false'],
      },
    },
  ],
  'ACME alone, and no Signers of namespaces': [
    {
      components: { acme: { enabled: true } },
      acme: { signers: [{ name: 'example.com/public' }] },
    },
  ],
  'solvers without acme, which runs elsewhere': [
    {
      ...ONE,
      components: { 'acme-solver': { enabled: true } },
      acme: {
        renewCertificates: true,
        solverSecrets: [{ namespace: 'countersign-dns', name: 'a' }],
        dnsWebhooks: ['acme.example.com'],
      },
    },
  ],
  'ACME without a signer yet': [{ ...ONE, components: { acme: { enabled: true } } }],
  'ACME signers of components that are not there': [
    { ...ONE, acme: { signers: [{ name: 'example.com/public' }] } },
  ],
};

/** Values that are refused: what is wrong, and what the message says of it. */
export const ACME_BAD: Readonly<Record<string, readonly [values: object, says: RegExp]>> = {
  'an ACME signer that is a ClusterSigner': [
    { ...ONE, acme: { signers: [{ name: 'example.com/workload' }] } },
    /acme\.signers\[0\]\.name: "example\.com\/workload" is also in signers; leave one/,
  ],
  'an ACME signer in a domain of Kubernetes': [
    { ...ONE, acme: { signers: [{ name: 'kubernetes.io/kube-apiserver-client' }] } },
    /acme\.signers\[0\]\.name: "kubernetes\.io\/kube-apiserver-client" is in a domain reserved for/,
  ],
  'an ACME signer with the name of the components’ own': [
    { ...ONE, acme: { signers: [{ name: 'countersign.dev/serving' }] } },
    /acme\.signers\[0\]\.name: "countersign\.dev\/serving" is always served; leave it out/,
  ],
  'an ACME signer with the derived name of a Signer': [
    { ...ONE, acme: { signers: [{ name: 'signers.countersign.dev/team-a.ca' }] } },
    /acme\.signers\[0\]\.name: .* is the derived name of a Signer; set namespacedSigners/,
  ],
  'a Secret of AcmeSigners that is that of a CA': [
    {
      ...ONE,
      namespacedSigners: { enabled: true, secrets: [{ namespace: 'team-a', name: 'ca' }] },
      acme: { secrets: [{ namespace: 'team-a', name: 'ca' }] },
    },
    /acme\.secrets\[0\]: team-a\/ca is the Secret of a CA; name another/,
  ],
  'credentials of DNS in the Secret of a CA': [
    {
      ...ONE,
      namespacedSigners: { enabled: true, secrets: [{ namespace: 'team-a', name: 'ca' }] },
      acme: { solverSecrets: [{ namespace: 'team-a', name: 'ca' }] },
    },
    /acme\.solverSecrets\[0\]: team-a\/ca is the Secret of a CA; name another/,
  ],
  'an account key in the Secret of a CA': [
    { ...ONE, acme: { signers: [{ name: 'example.com/a', accountSecret: 'workload-ca' }] } },
    /acme\.signers\[0\]: Secret "workload-ca" is that of a CA; write another name/,
  ],
  'an ACME signer of a component that is not there, and no other': [
    { acme: { signers: [{ name: 'example.com/public' }] } },
    /signers: it is empty; name at least one.*or for ACME alone set components\.acme\.enabled=true/,
  ],
  'Secrets of AcmeSigners that are not served': [
    { ...ONE, acme: { secrets: [{ namespace: 'team-a', name: 'x' }] } },
    /acme\.secrets: they are for AcmeSigners; set namespacedSigners\.enabled=true/,
  ],
  'a credential of DNS beside the keys of CAs': [
    { ...ONE, acme: { solverSecrets: [{ namespace: 'countersign-keys', name: 'workload-ca' }] } },
    /acme\.solverSecrets\[0\]\.namespace: "countersign-keys" is for the components or the keys/,
  ],
  'a credential of DNS beside the components': [
    { ...ONE, acme: { solverSecrets: [{ namespace: 'countersign-system', name: 'x' }] } },
    /acme\.solverSecrets\[0\]\.namespace: "countersign-system" is for the components or the keys/,
  ],
  'a credential of DNS without a name': [
    { ...ONE, acme: { solverSecrets: [{ namespace: 'countersign-dns', name: '' }] } },
    /acme\.solverSecrets\[0\]\.name: "" is not a valid name of a Secret/,
  ],
  'a DNS provider that is an API of Kubernetes': [
    { ...ONE, acme: { dnsWebhooks: ['rbac.authorization.k8s.io'] } },
    /acme\.dnsWebhooks\[0\]: "rbac\.authorization\.k8s\.io" is not the API group of a DNS provider/,
  ],
  'a DNS provider that is the core group': [
    { ...ONE, acme: { dnsWebhooks: ['secrets'] } },
    /acme\.dnsWebhooks\[0\]: "secrets" is not the API group of a DNS provider/,
  ],
  'a DNS provider with two slashes': [
    { ...ONE, acme: { dnsWebhooks: ['acme.example.com/a/b'] } },
    /acme\.dnsWebhooks\[0\]: "acme\.example\.com\/a\/b" is not the API group/,
  ],
  'a label of routes without a value': [
    { ...ONE, acme: { routeMetadata: ['team'] } },
    /acme\.routeMetadata\[0\]: "team" is not a label or annotation of a route; write example\.com\/key=value/,
  ],
  'an annotation of routes with a quote': [
    { ...ONE, acme: { routeMetadata: ["a/b=c' + 'd"] } },
    /acme\.routeMetadata\[0\]: "a\/b=c' \+ 'd" is not a label or annotation of a route/,
  ],
  'a zone without a namespace': [
    { ...ONE, acme: { http01Zones: ['team-a.example.com'] } },
    /acme\.http01Zones\[0\]: "team-a\.example\.com" is not a namespace and a zone; write team-a=team-a/,
  ],
  'a wildcard for an ACME signer': [
    { ...ONE, acme: { signers: [{ name: 'example.com/*' }] } },
    /acme\/signers\/0\/name.*does not match pattern/,
  ],
};
