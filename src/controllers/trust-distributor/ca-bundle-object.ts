// SPDX-License-Identifier: Apache-2.0
/** What is kept of an object with a `caBundle`: its metadata, and where the API server reads the bundle. */
import { CA_BUNDLE_RESOURCES, type CaBundleTarget } from '../../api/object/ca-bundle-target.ts';
import type { KubeObject } from '../../api/object/object.ts';
import { resource, type Resource } from '../../kube/resource/resource.ts';

/** One `caBundle` of an object. */
export interface CaBundlePlace {
  /** JSON pointer of the field. */
  readonly path: string;
  /** PEM; '' where there is none. */
  readonly text: string;
}

/** An object with any number of `caBundle`s. */
export interface CaBundleObject extends KubeObject {
  readonly places: readonly CaBundlePlace[];
}

/** The API resource of a target. */
export function resourceOf(name: CaBundleTarget['resource']): Resource {
  return resource({ group: CA_BUNDLE_RESOURCES[name].group, version: 'v1', plural: name });
}

/** admissionregistration/v1 WebhookClientConfig and its likes: the field is the same in all of them. */
interface ClientConfig {
  readonly caBundle?: string | null;
}

interface Webhooks {
  readonly webhooks?: readonly { readonly clientConfig: ClientConfig }[] | null;
}

interface ApiService {
  /** Without a Service the API is the API server's own. */
  readonly spec: ClientConfig & { readonly service?: object | null };
}

interface Definition {
  readonly spec: {
    readonly conversion?: { readonly webhook?: { readonly clientConfig?: ClientConfig } };
  };
}

/** Reduces an object as the API server has it; of one that was reduced before, the same. */
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
    const { spec } = object as ApiService;
    const isAggregated = spec.service !== undefined && spec.service !== null;
    return isAggregated ? [placeOf('/spec', spec)] : [];
  },
  customresourcedefinitions: (object) => {
    const { clientConfig } = (object as Definition).spec.conversion?.webhook ?? {};
    const path = '/spec/conversion/webhook/clientConfig';
    return clientConfig === undefined ? [] : [placeOf(path, clientConfig)];
  },
};

function webhookPlaces(object: unknown): readonly CaBundlePlace[] {
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
