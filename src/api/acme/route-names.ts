// SPDX-License-Identifier: Apache-2.0
/** Names of the routes that `acme-solver` creates. An admission policy enforces them. */
import { LABEL_COMPONENT, LABEL_NAME } from '#kube/resource/labels.ts';
import { ACME_GROUP } from './names.ts';

/** The Service of `acme-responder`, in the namespace of the components. */
export const CHALLENGE_SERVICE = 'countersign-acme-challenges';

/** Prefix of a route's name. The uid of its Challenge follows. */
export const ROUTE_NAME_PREFIX = 'countersign-acme-';

/** Labels of every route. */
export const ROUTE_LABELS = {
  [LABEL_NAME]: 'countersign',
  [LABEL_COMPONENT]: 'acme-solver',
} as const;

/** Label of a route: uid of its Challenge. */
export const CHALLENGE_UID_LABEL = `${ACME_GROUP}/challenge-uid`;

/** Annotation: namespace and name of the Challenge. */
export const CHALLENGE_ANNOTATION = `${ACME_GROUP}/challenge`;
