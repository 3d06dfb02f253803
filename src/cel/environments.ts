// SPDX-License-Identifier: Apache-2.0
/** Variables of expressions, with the maximum sizes that their worst-case cost assumes. */
import { MAX_POD_LABELS, MAX_POD_SERVICES, type RequestField } from '#base/vocabulary.ts';
import { MAX_VALUE } from './pattern/value-pattern.ts';
import { INT, list, map, object, text, type Shape } from './cost/shape.ts';

export interface Environment {
  readonly variables: Readonly<Record<string, Shape>>;
  /** Limit on runs of an expression of this environment for one request. */
  readonly runs: number;
}

/** Limit on names of one type in a request. A leaf with more than a hundred is a mistake. */
const MAX_NAMES = 100;

/**
 * Limit on groups of a user. A token with more than a thousand does not fit into an HTTP header.
 */
const MAX_GROUPS = 1_000;

/** Limits of a request's decoder (pki/x509/pkcs10.ts, pki/extensions/parse-extensions.ts). */
const MAX_ATTRIBUTES = 16;
const MAX_EXTENSIONS = 64;

/** KeyUsage of certificates.k8s.io has 23 names. */
const MAX_USAGES = 32;

/** Annotation keys that a ClusterSigner may name (16), and keys and values of a user's `extra`. */
const MAX_ENTRIES = 64;

/** DNS names have at most 253 characters, X.520 names 64 (RFC 5280 A.1). */
const NAME = text(256);
const NAMES = list(MAX_NAMES, NAME);

/** SPIFFE IDs are at most 2,048 bytes (SPIFFE-ID §2.3). */
const URI = text(2_048);
const URIS = list(MAX_NAMES, URI);

/** The user name of an OIDC user may contain the issuer's URL. */
const USER = text(1_024);

/** An annotation. */
const VALUE = text(MAX_VALUE);

const POD_FIELDS = {
  namespace: NAME,
  name: NAME,
  uid: NAME,
  serviceAccount: NAME,
  serviceAccountUID: NAME,
  node: NAME,
  nodeUID: NAME,
  annotations: map(MAX_ENTRIES, VALUE),
};

/** Optional variables of expressions about a pod. */
interface PodSights {
  /** `services`: names of the Services in the leaf. */
  readonly services: boolean;
  /** `pod.labels`. */
  readonly labels: boolean;
  /** `pod.ip`. */
  readonly ip: boolean;
}

/** Values of labels have at most 63 characters. */
const LABELS = map(MAX_POD_LABELS, text(64));
/** An IPv6 address has at most 45 characters. */
const ADDRESS = text(64);

const podEnvironments = new Map<string, Environment>();

/**
 * Returns the environment of expressions about a pod. Each combination has one object, because
 * libraryOf() caches by it.
 */
export function podEnvironment(sights: Partial<PodSights> = {}): Environment {
  const { services = false, labels = false, ip = false } = sights;
  const key = JSON.stringify([services, labels, ip]);
  const known = podEnvironments.get(key);
  if (known !== undefined) return known;
  const made: Environment = {
    runs: 1,
    variables: {
      pod: object({
        ...POD_FIELDS,
        ...(labels ? { labels: LABELS } : {}),
        ...(ip ? { ip: ADDRESS } : {}),
      }),
      ...(services ? { services: list(MAX_POD_SERVICES, NAME) } : {}),
    },
  };
  podEnvironments.set(key, made);
  return made;
}

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
      extensions: list(MAX_EXTENSIONS, NAME),
      attributes: list(MAX_ATTRIBUTES, NAME),
    }),
    request: object(REQUESTER),
  },
};

/** Environment of requests with a namespace: {@link REQUEST} plus `request.namespace`. */
export const NAMESPACED_REQUEST: Environment = {
  ...REQUEST,
  variables: {
    ...REQUEST.variables,
    request: object({ ...REQUESTER, namespace: NAME }),
  },
};

/** Name of a cluster: a DNS label. */
const CLUSTER = text(64);

/** Environment of rules for the CAs of other clusters. */
export const INTERMEDIATE: Environment = {
  runs: 1,
  variables: { cluster: CLUSTER, request: object(REQUESTER) },
};

/** Environments of `allow`, which runs once for each value of the request: `self`. */
interface SelfEnvironments {
  readonly each: Environment;
  /** Environment of `allow.uris`. */
  readonly uri: Environment;
  /** Environment of `allow.commonName`: a request has at most one. */
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

// One object per environment, because libraryOf() caches by it.
const SELVES = selvesOf(REQUEST);
const NAMESPACED_SELVES = selvesOf(NAMESPACED_REQUEST);

/** Returns the environment of `allow.<field>` for the environment of `when`. */
export function selfOf(field: RequestField, when: Environment = REQUEST): Environment {
  const { each, uri, once } = when === NAMESPACED_REQUEST ? NAMESPACED_SELVES : SELVES;
  if (field === 'uris') return uri;
  return field === 'commonName' ? once : each;
}
