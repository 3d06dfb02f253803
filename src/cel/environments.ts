// SPDX-License-Identifier: Apache-2.0
/** The variables that expressions may use, with the sizes that their worst-case cost rests on. */
import type { RequestField } from '../vocabulary.ts';
import { MAX_VALUE } from './pattern/value-pattern.ts';
import { INT, list, map, object, text, type Shape } from './cost/shape.ts';

export interface Environment {
  readonly variables: Readonly<Record<string, Shape>>;
  /** How many times one request may make an expression of this environment run. */
  readonly runs: number;
}

/** Names that one request may hold of one kind: a leaf for more than a hundred is a mistake. */
const MAX_NAMES = 100;

/** Groups of a user: a token that lists more than a thousand does not fit an HTTP header. */
const MAX_GROUPS = 1_000;

/** The 23 names of KeyUsage, with room. */
const MAX_USAGES = 32;

/** Annotation keys that a ClusterSigner may name (16), keys and values of a user's `extra`. */
const MAX_ENTRIES = 64;

/** DNS names are at most 253 long, X.520 names 64 (RFC 5280 A.1); with room. */
const NAME = text(256);
const NAMES = list(MAX_NAMES, NAME);

/** SPIFFE IDs are at most 2,048 bytes (SPIFFE-ID §2.3). */
const URI = text(2_048);
const URIS = list(MAX_NAMES, URI);

/** User names of OIDC issuers hold the issuer's URL. */
const USER = text(1_024);

/** An annotation. */
const VALUE = text(MAX_VALUE);

export const POD: Environment = {
  runs: 1,
  variables: {
    pod: object({
      namespace: NAME,
      name: NAME,
      uid: NAME,
      serviceAccount: NAME,
      serviceAccountUID: NAME,
      node: NAME,
      nodeUID: NAME,
      annotations: map(MAX_ENTRIES, VALUE),
    }),
  },
};

const REQUESTER = {
  name: NAME,
  username: USER,
  uid: USER,
  groups: list(MAX_GROUPS, NAME),
  extra: map(MAX_ENTRIES, list(MAX_ENTRIES, USER)),
  expirationSeconds: INT,
};

export const REQUEST: Environment = {
  runs: 1,
  variables: {
    csr: object({
      subject: object({ commonName: NAME, organizations: NAMES, organizationalUnits: NAMES }),
      dnsNames: NAMES,
      ipAddresses: NAMES,
      uris: URIS,
      emails: NAMES,
      key: object({ type: NAME, size: INT }),
      keyType: NAME,
      usages: list(MAX_USAGES, NAME),
    }),
    request: object(REQUESTER),
  },
};

/** Requests of kinds that have a namespace: for most of them it says more than who made them. */
export const NAMESPACED_REQUEST: Environment = {
  ...REQUEST,
  variables: {
    ...REQUEST.variables,
    request: object({ ...REQUESTER, namespace: NAME }),
  },
};

/** What `allow` is evaluated in: `self` is one value of the request after the other. */
interface SelfEnvironments {
  readonly each: Environment;
  /** `allow.uris`. */
  readonly uri: Environment;
  /** `allow.commonName`: there is only one. */
  readonly once: Environment;
}

function selvesOf({ variables }: Environment): SelfEnvironments {
  const self = (max: number, runs: number): Environment => ({
    runs,
    variables: { ...variables, self: text(max) },
  });
  return {
    each: self(NAME.max, MAX_NAMES),
    uri: self(URI.max, MAX_NAMES),
    once: self(NAME.max, 1),
  };
}

// One object per environment: libraryOf() caches by it.
const SELVES = selvesOf(REQUEST);
const NAMESPACED_SELVES = selvesOf(NAMESPACED_REQUEST);

/** The environment of `allow.<field>` beside that of `when`. */
export function selfOf(field: RequestField, when: Environment = REQUEST): Environment {
  const { each, uri, once } = when === NAMESPACED_REQUEST ? NAMESPACED_SELVES : SELVES;
  if (field === 'uris') return uri;
  return field === 'commonName' ? once : each;
}
