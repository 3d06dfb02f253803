// SPDX-License-Identifier: Apache-2.0
/** What `acme-solver` makes, and what it would make of it. */
import type { Body, HeldWrite } from './writes.ts';

const UID = '1b4e28ba-2fa1-11d2-883f-0016d3cca427';
const name = `countersign-acme-${UID}`;
const labels = {
  'app.kubernetes.io/name': 'countersign',
  'app.kubernetes.io/component': 'acme-solver',
  'acme.countersign.dev/challenge-uid': UID,
};
const path = '/.well-known/acme-challenge/token-1_x';
const SERVICE = 'countersign-acme-challenges';
/** That of another Challenge. */
const ANOTHER_UID = UID.replace('1b4e', '2c5f');
const metadata = { name, labels, annotations: { 'acme.countersign.dev/challenge': 'a/b' } };

const ANOTHER = {
  ...metadata,
  name: `countersign-acme-${ANOTHER_UID}`,
  labels: { ...labels, 'acme.countersign.dev/challenge-uid': ANOTHER_UID },
};

/** `key=value` that an administrator listed. */
export const LISTED = ['nginx.ingress.kubernetes.io/ssl-redirect=false', 'team=edge'];

/** What its signer says and an administrator listed. */
const allowed = {
  metadata: {
    labels: { team: 'edge' },
    annotations: { 'nginx.ingress.kubernetes.io/ssl-redirect': 'false' },
  },
};
/** Labels and annotations that no administrator listed. */
export const NOT_LISTED = {
  'a command to an Ingress controller': {
    metadata: {
      annotations: { 'nginx.ingress.kubernetes.io/configuration-snippet': 'deny all;' },
    },
  },
  'another value of what is listed': {
    metadata: { annotations: { 'nginx.ingress.kubernetes.io/ssl-redirect': 'true' } },
  },
  'the label of another Challenge': {
    metadata: { labels: { 'acme.countersign.dev/challenge-uid': 'x' } },
  },
} as const satisfies Readonly<Record<string, Body>>;

const rule = (backend: object, more: object = {}): object => ({
  host: 'a.example',
  http: { paths: [{ path, pathType: 'Exact', backend, ...more }] },
});
const ours = { service: { name: SERVICE, port: { number: 80 } } };
const rules = (...all: readonly object[]): { readonly spec: object } => ({
  spec: { rules: all },
});
/** An Ingress as it makes one. */
export const OURS = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata,
  spec: { ingressClassName: 'nginx', ...rules(rule(ours)).spec },
};
/** What else it would make of an Ingress. */
export const INGRESS_CHANGES = {
  'the key of a Secret': { spec: { tls: [{ hosts: ['a.example'], secretName: 'a' }] } },
  'a default backend': { spec: { defaultBackend: ours } },
  'another Service': rules(rule({ service: { name: 'countersign-ledger', port: { number: 80 } } })),
  'another port': rules(rule({ service: { name: SERVICE, port: { number: 443 } } })),
  'a resource': rules(rule({ resource: { apiGroup: 'a.b', kind: 'Bucket', name: 'a' } })),
  'another path': rules(rule(ours, { path: '/' })),
  'a path that is a pattern': rules(
    rule(ours, { path: `${path}|/.*`, pathType: 'ImplementationSpecific' }),
  ),
  'all paths below it': rules(rule(ours, { pathType: 'Prefix' })),
  'a second rule': rules(rule(ours), rule(ours)),
} as const satisfies Readonly<Record<string, Body>>;

const parent = { name: 'web', namespace: 'infra', sectionName: 'http' };
const matches = [{ path: { type: 'Exact', value: path } }];
const backendRefs = [{ group: '', kind: 'Service', name: SERVICE, port: 80, weight: 1 }];
const route = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata,
  spec: { parentRefs: [parent], hostnames: ['a.example'], rules: [{ matches, backendRefs }] },
};
const HTTP_ROUTE: Readonly<Record<string, Body>> = {
  'a filter': rules({
    matches,
    backendRefs,
    filters: [{ type: 'RequestRedirect', requestRedirect: { hostname: 'b.example' } }],
  }),
  'another Service': rules({ matches, backendRefs: [{ ...backendRefs[0], name: 'theirs' }] }),
  'a Service of another namespace': rules({
    matches,
    backendRefs: [{ ...backendRefs[0], namespace: 'default' }],
  }),
  'another path': rules({ matches: [{ path: { type: 'PathPrefix', value: '/' } }], backendRefs }),
  'a header': rules({ matches: [{ ...matches[0], headers: [] }], backendRefs }),
  'a second backend': rules({ matches, backendRefs: [...backendRefs, ...backendRefs] }),
  'a Service as its parent': { spec: { parentRefs: [{ name: 'a', group: '', kind: 'Service' }] } },
  'every Gateway': { spec: { useDefaultGateways: 'All' } },
};

const component = 'acme-solver';
const ofIngress = {
  collection: '/apis/networking.k8s.io/v1/namespaces/countersign-system/ingresses',
  object: OURS,
  refused: { ...NOT_LISTED, ...INGRESS_CHANGES },
};
const ofGateway = {
  collection: '/apis/gateway.networking.k8s.io/v1/namespaces/countersign-system/httproutes',
  object: route,
  refused: { ...NOT_LISTED, ...HTTP_ROUTE },
};

export const ROUTES: readonly HeldWrite[] = [ofIngress, ofGateway].flatMap((each) =>
  (['create', 'patch'] as const).map((how) => {
    const object = how === 'patch' ? each.object : { ...each.object, metadata: ANOTHER };
    return { component, how, allowed, ...each, object };
  }),
);

/** A route of others, with our labels. */
export const THEIRS = {
  ...OURS,
  metadata: { ...metadata, name: 'theirs' },
};
