// SPDX-License-Identifier: Apache-2.0
/** The part of an object that is cached: its metadata and each `caBundle` field. */
import { CA_BUNDLE_RESOURCES, type CaBundleTarget } from './ca-bundle-target.ts';
import type { KubeObject } from './object.ts';
import { resource, type Resource } from '#kube/resource/resource.ts';

/** One `caBundle` of an object. */
export interface CaBundlePlace {
  /** JSON pointer of the field. */
  readonly path: string;
  /** PEM, or '' if there is none. */
  readonly text: string;
}

/** An object with any number of `caBundle`s. */
export interface CaBundleObject extends KubeObject {
  readonly places: readonly CaBundlePlace[];
}

/** Returns the API resource of a target. */
export function resourceOf(name: CaBundleTarget['resource']): Resource {
  return resource({ group: CA_BUNDLE_RESOURCES[name].group, version: 'v1', plural: name });
}

/** admissionregistration/v1 WebhookClientConfig and similar types, which share this field. */
interface ClientConfig {
  readonly caBundle?: string | null;
}

interface Webhooks {
  readonly webhooks?: readonly { readonly clientConfig: ClientConfig }[] | null;
}

interface ApiService {
  /** Absent if the API server itself serves the API. */
  readonly spec: ClientConfig & { readonly service?: object | null };
}

interface Definition {
  readonly spec: {
    readonly conversion?: { readonly webhook?: { readonly clientConfig?: ClientConfig } };
  };
}

/** Reduces an object to its metadata and `caBundle`s. Idempotent. */
export function caBundleObject(
  name: CaBundleTarget['resource'],
  object: KubeObject | CaBundleObject,
): CaBundleObject {
  const { apiVersion, kind, metadata } = object;
  const places = 'places' in object ? object.places : PLACES[name](object);
  return { apiVersion, kind, metadata, places };
}

const PLACES: Readonly<
  Record<CaBundleTarget['resource'], (object: unknown) => readonly CaBundlePlace[]>
> = {
  validatingwebhookconfigurations: webhookPlaces,
  mutatingwebhookconfigurations: webhookPlaces,
  apiservices: (object) => {
    // The API server's schema has checked the object.
    const { spec } = object as ApiService;
    const isAggregated = spec.service !== undefined && spec.service !== null;
    return isAggregated ? [placeOf('/spec', spec)] : [];
  },
  customresourcedefinitions: (object) => {
    // The API server's schema has checked the object.
    const { clientConfig } = (object as Definition).spec.conversion?.webhook ?? {};
    const path = '/spec/conversion/webhook/clientConfig';
    return clientConfig === undefined ? [] : [placeOf(path, clientConfig)];
  },
};

function webhookPlaces(object: unknown): readonly CaBundlePlace[] {
  // The API server's schema has checked the object.
  return ((object as Webhooks).webhooks ?? []).map(({ clientConfig }, index) =>
    placeOf(`/webhooks/${index}/clientConfig`, clientConfig),
  );
}

function placeOf(path: string, { caBundle }: ClientConfig): CaBundlePlace {
  return {
    path: `${path}/caBundle`,
    text: Buffer.from(caBundle ?? '', 'base64').toString('latin1'),
  };
}
