// SPDX-License-Identifier: Apache-2.0
import { DNS_SUBDOMAIN, list, object, objectName, oneOf, text } from './schema.ts';
import type { Rule, Schema } from './schema.ts';

/** Solvers. Each name of a certificate has one of them. */
const SOLVER_MEMBERS = ['http01', 'rfc2136', 'acmeDNS', 'webhook', 'persist'];

const SELECTOR = object(
  [],
  'Names of the solver; all given fields must match. If omitted, every name.',
  {
    dnsNames: list(100, 'Exact names, wildcards with *.', text(255, 'A name.')),
    dnsZones: list(100, 'Zones: a name is one of them, or ends in it.', text(253, 'A zone.')),
    matchLabels: {
      type: 'object',
      description: 'Labels of the request; cert-manager copies those of the Certificate.',
      maxProperties: 16,
      additionalProperties: { type: 'string', maxLength: 63 },
    },
  },
);

const SELF_CHECK = object(
  [],
  'How the self-check finds the record or file, before the ACME server validates it.',
  {
    nameservers: list(
      8,
      'host:port of resolvers, or https:// URLs of DoH; the authoritative servers if omitted.',
      text(2048, 'One resolver.'),
    ),
    waitInstead: text(33, 'Duration to wait instead of a check; 0s accepts at once.', {
      pattern: '^([0-9]{1,10}h)?([0-9]{1,10}m)?([0-9]{1,10}s)?$',
    }),
  },
);

const secretName = (what: string): Schema =>
  object(['name'], `${what} In the namespace of the credentials of the signer.`, {
    name: objectName('Name of the Secret.'),
  });

/** Annotations and labels for the controllers of a route. Countersign's own take precedence. */
function metadataOf(kind: string): Readonly<Record<string, Schema>> {
  const texts = (what: string, maxLength: number): Schema => ({
    type: 'object',
    description: `${what} of the ${kind}. Of an AcmeClusterSigner only.`,
    maxProperties: 16,
    additionalProperties: { type: 'string', maxLength },
  });
  return { labels: texts('Labels', 63), annotations: texts('Annotations', 1024) };
}

/** Item of `spec.acme.solvers`. */
export const SOLVER = object(
  ['name'],
  'A way to prove names. Set exactly one of http01, rfc2136, acmeDNS, webhook and persist.',
  {
    name: text(63, 'Unique among the solvers.', { pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' }),
    selector: SELECTOR,
    selfCheck: SELF_CHECK,
    http01: object(
      [],
      'By a file below /.well-known/acme-challenge, which acme-responder serves.',
      {
        ingress: object([], 'Make an Ingress for each name.', {
          className: objectName('Class of the Ingress.'),
          pathType: oneOf(
            ['Exact', 'ImplementationSpecific'],
            'Type of its path; Exact if omitted. Some controllers reject an Exact path with a dot.',
          ),
          ...metadataOf('Ingress'),
        }),
        gateway: object(['name'], 'Make an HTTPRoute for each name.', {
          name: objectName('Name of the Gateway.'),
          namespace: text(63, 'Namespace of the Gateway.'),
          sectionName: text(253, 'Its listener for port 80.'),
          ...metadataOf('HTTPRoute'),
        }),
      },
    ),
    rfc2136: object(['server'], 'By dynamic updates (RFC 2136), signed by TSIG (RFC 8945).', {
      server: text(262, 'host:port of the primary server.'),
      zone: text(253, 'The zone to update; found by its SOA record if omitted.'),
      tsig: object(['keyName', 'algorithm', 'secret'], 'The key that signs updates.', {
        keyName: text(253, 'Name of the key.'),
        algorithm: oneOf(['HMAC-SHA256', 'HMAC-SHA384', 'HMAC-SHA512'], 'Algorithm of the key.'),
        secret: secretName('Its base64 in the key "tsig".'),
      }),
    }),
    acmeDNS: object(['server', 'secret'], 'By an acme-dns server.', {
      server: text(2048, 'Its URL.', { pattern: '^https?://' }),
      secret: secretName('Its accounts by name, as JSON in the key "accounts".'),
    }),
    webhook: object(
      ['groupName', 'solverName'],
      'By an aggregated API that providers serve for cert-manager.',
      {
        groupName: text(253, 'API group of the provider.', { pattern: DNS_SUBDOMAIN }),
        solverName: text(63, 'Name of its solver.'),
        config: {
          type: 'object',
          description: 'Configuration of the provider.',
          'x-kubernetes-preserve-unknown-fields': true,
        },
      },
    ),
    persist: object(
      [],
      'By a record that you write once (dns-persist-01); the status prints it.',
      {},
    ),
  },
  [
    {
      rule: `[${SOLVER_MEMBERS.map((member) => `has(self.${member})`).join(', ')}].filter(set, set).size() == 1`,
      message: `must have exactly one of ${SOLVER_MEMBERS.join(', ')}`,
    },
    {
      rule: '!has(self.http01) || !(has(self.http01.ingress) && has(self.http01.gateway))',
      message: 'must not have both http01.ingress and http01.gateway',
    },
  ],
);

/**
 * Routes are in the namespace of the components. Their annotations and labels can make a controller
 * do more than route a path.
 */
export const PLAIN_ROUTES: Rule = {
  rule: ['ingress', 'gateway']
    .map(
      (route) =>
        `self.solvers.all(s, !has(s.http01) || !has(s.http01.${route}) || !(has(s.http01.${route}.labels) || has(s.http01.${route}.annotations)))`,
    )
    .join(' && '),
  fieldPath: '.solvers',
  message: 'an AcmeSigner must not have labels or annotations of routes; an AcmeClusterSigner may',
};
