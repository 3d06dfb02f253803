// SPDX-License-Identifier: Apache-2.0
/** What the components of ACME that solve Challenges try with their own tokens, and must not get. */
import type { Call } from './attempts.ts';

const ACME = '/apis/acme.countersign.dev/v1alpha1';
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
  'make an Ingress in another namespace': makeRouteElsewhere,
  'create a Secret beside the components': makeSecret,
} as const;
