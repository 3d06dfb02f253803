// SPDX-License-Identifier: Apache-2.0
/**
 * What the components of ACME that solve Challenges try with their own tokens, and must not get.
 */
import type { Call } from './attempts.ts';

export const ACME = '/apis/acme.countersign.dev/v1alpha1';
const SYSTEM = '/api/v1/namespaces/countersign-system';

const makeChallenge: Call = { verb: 'create', path: `${ACME}/namespaces/default/challenges` };
const makeOrder: Call = { verb: 'create', path: `${ACME}/namespaces/default/orders` };
const readOrders: Call = { verb: 'get', path: `${ACME}/orders` };
const deleteChallenge: Call = {
  verb: 'delete',
  path: `${ACME}/namespaces/default/challenges/a`,
};
const makeRouteElsewhere: Call = {
  verb: 'create',
  path: '/apis/networking.k8s.io/v1/namespaces/default/ingresses',
};
const makeRoute: Call = {
  verb: 'create',
  path: '/apis/networking.k8s.io/v1/namespaces/countersign-system/ingresses',
};
const makeSecret: Call = {
  verb: 'create',
  path: `${SYSTEM}/secrets`,
  body: { metadata: { name: 'minted' } },
};

const CHALLENGE = 'taken';

/** One that is there then, as acme makes it. */
export const MAKE_CHALLENGE: Call = {
  verb: 'create',
  path: `${ACME}/namespaces/default/challenges`,
  body: {
    apiVersion: 'acme.countersign.dev/v1alpha1',
    kind: 'Challenge',
    metadata: { name: CHALLENGE, labels: { 'acme.countersign.dev/order-uid': 'u' } },
    spec: {
      signerRef: { kind: 'AcmeClusterSigner', name: 'public' },
      orderRef: { name: 'web-1', uid: 'u' },
      authorizationURL: 'https://acme.example/authz/1',
      url: 'https://acme.example/chall/1',
      type: 'dns-01',
      dnsName: 'a.example',
      token: 't',
      key: 'k',
      solver: 'dns',
    },
  },
};
const challengeStatus = `${ACME}/namespaces/default/challenges/${CHALLENGE}/status`;

const sayProved: Call = {
  verb: 'patch',
  path: challengeStatus,
  body: { status: { state: 'valid' } },
};
const writeSigner: Call = {
  verb: 'create',
  path: `${ACME}/acmeclustersigners`,
  body: { apiVersion: 'acme.countersign.dev/v1alpha1', kind: 'AcmeClusterSigner' },
};
const writeSignerStatus: Call = {
  verb: 'patch',
  path: `${ACME}/acmeclustersigners/public/status`,
  body: { status: {} },
};
const wishRevocation: Call = {
  verb: 'patch',
  path: `${ACME}/namespaces/default/orders/a`,
  body: { metadata: { annotations: { 'acme.countersign.dev/revoke': 'unspecified' } } },
};

/**
 * Of a DNS provider that was written for cert-manager: whose group the installation names, and
 * which of its solvers.
 */
export const PROVIDER = { group: 'acme.provider.example', solver: 'ours' };

function callProvider(group: string, resource: string, verb: Call['verb'] = 'create'): Call {
  return { verb, path: `/apis/${group}/v1alpha1/${resource}`, body: { kind: 'ChallengePayload' } };
}

/** The one call that a binding of `countersign rbac --dns-webhook` lets it make. */
export const CALL_PROVIDER = callProvider(PROVIDER.group, PROVIDER.solver);

/** Sentence of SECURITY.md → what is tried. */
export const BY_ACME = {
  'read a credential of DNS': {
    verb: 'get',
    path: '/api/v1/namespaces/countersign-dns/secrets/tsig',
  },
  'write an account key': {
    verb: 'patch',
    path: '/api/v1/namespaces/countersign-keys/secrets/account',
    body: { metadata: { labels: { by: 'attack' } } },
  },
  'create a Secret beside the components': makeSecret,
  'make an Ingress': makeRoute,
  'write an AcmeClusterSigner': writeSigner,
  'request a revocation in the place of a person': wishRevocation,
  'call a DNS webhook': CALL_PROVIDER,
} as const satisfies Readonly<Record<string, Call>>;

/** Sentence of SECURITY.md → what is tried. */
export const BY_RESPONDER = {
  'make or delete a Challenge': makeChallenge,
  'read an Order': readOrders,
  'make an Ingress': makeRoute,
} as const;

/** Sentence of SECURITY.md → what is tried. */
export const BY_SOLVER = {
  'make a Challenge': makeChallenge,
  'delete a Challenge': deleteChallenge,
  'make an Order': makeOrder,
  'read an Order': readOrders,
  'say of a Challenge that its name is proved': sayProved,
  'write an AcmeClusterSigner or its status': writeSignerStatus,
  'make an Ingress in another namespace': makeRouteElsewhere,
  'call a DNS webhook that it was not bound to': callProvider(
    'acme.other.example',
    PROVIDER.solver,
  ),
  'call another solver of a DNS webhook': callProvider(PROVIDER.group, 'theirs'),
  'read what a DNS webhook has': callProvider(PROVIDER.group, PROVIDER.solver, 'get'),
  'create a Secret beside the components': makeSecret,
} as const;
