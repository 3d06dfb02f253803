// SPDX-License-Identifier: Apache-2.0
/** What `acme-solver` tries with Ingresses that was taken over. */
import { INGRESS_CHANGES, NOT_LISTED, OURS, THEIRS } from '../held-writes/routes.ts';
import type { Call } from './attempts.ts';

const INGRESSES = '/apis/networking.k8s.io/v1/namespaces/countersign-system/ingresses';
const theirs = `${INGRESSES}/${THEIRS.metadata.name}`;

/** One that it would make for a Challenge, but for this. */
function make(change: { readonly spec?: object; readonly metadata?: object }): Call {
  const { annotations } = (change.metadata ?? {}) as { readonly annotations?: object };
  const metadata = {
    ...OURS.metadata,
    annotations: { ...OURS.metadata.annotations, ...annotations },
  };
  return {
    verb: 'create',
    path: INGRESSES,
    body: { ...OURS, metadata, spec: { ...OURS.spec, ...change.spec } },
  };
}

export const ROUTE_ATTEMPTS = {
  'change a route of others': {
    verb: 'patch',
    path: theirs,
    body: { metadata: { labels: { team: 'edge' } } },
  },
  'delete a route of others': { verb: 'delete', path: theirs },
  'lend the key of a Secret to a route': make(INGRESS_CHANGES['the key of a Secret']),
  'give a route a default backend': make(INGRESS_CHANGES['a default backend']),
  'lead a route to another Service': make(INGRESS_CHANGES['another Service']),
  'route another path than that of a token': make(INGRESS_CHANGES['another path']),
  'give a route a label or annotation that no administrator listed': make(
    NOT_LISTED['a command to an Ingress controller'],
  ),
} as const satisfies Readonly<Record<string, Call>>;
