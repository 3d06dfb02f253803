// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import { federatedBundleName } from '../../api/object/federated-bundle.ts';
import { messageOf } from '../../errors.ts';
import type { Reflector } from '../../kube/watch/reflector.ts';
import { writeAnchors } from '../../pki/x509/trust-bundle.ts';
import type { Component } from '../../runtime/component/component.ts';
import type { ForeignDomain } from '../../spiffe/foreign-domain.ts';
import { readBundle } from '../../spiffe/read-bundle.ts';
import { trustDomainOf } from '../../spiffe/trust-domain.ts';
import { isOwn } from './decide.ts';
import { NOTHING_TOLD, type Told } from './tell.ts';

/** PEM of the CAs that a server is verified by, undefined for those of the web; or why there are none. */
export type KnownAnchors = { readonly anchors: string | undefined } | { readonly problem: string };

/**
 * What a bundle endpoint is verified by. For `https_spiffe` the bundle of the server's trust domain as it was fetched last;
 * before that, and once it was dropped, the file that an administrator gave (SPIFFE Federation §5.2.2.4). For `https_web`
 * the CAs in `<trust domain>.crt`, else those of the web. Never throws.
 *
 * @param latest - PEM of a trust domain's bundle as it was taken last, if there is one
 */
export async function knownAnchors(
  { trustDomain, profile, endpointId = '' }: ForeignDomain,
  directory: string,
  latest: (trustDomain: string) => string | undefined,
): Promise<KnownAnchors> {
  try {
    if (profile === 'https_web') return { anchors: await textOf(directory, `${trustDomain}.crt`) };
    const server = trustDomainOf(endpointId) ?? '';
    const taken = latest(server);
    return taken === undefined ? await bootstrap(directory, server) : { anchors: taken };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** What this process and the cluster know of bundles. */
interface Known {
  readonly component: Pick<Component, 'secretNamespace'>;
  readonly told: ReadonlyMap<string, Told>;
  readonly bundles: Pick<Reflector<ClusterTrustBundle>, 'get'>;
}

/**
 * PEM of a trust domain's bundle as it was taken last: by this process, else by the one before it. None once it was dropped,
 * whatever a watch still shows.
 */
export function latestBundle(
  { component, told, bundles }: Known,
  trustDomain: string,
): string | undefined {
  const { text, dropped } = told.get(trustDomain) ?? NOTHING_TOLD;
  if (text !== undefined) return text;
  const existing = bundles.get(federatedBundleName(trustDomain));
  if (existing === undefined || existing.metadata.uid === dropped) return undefined;
  const isOurs = isOwn(existing, trustDomain, component.secretNamespace);
  return isOurs ? existing.spec.trustBundle : undefined;
}

async function bootstrap(directory: string, trustDomain: string): Promise<KnownAnchors> {
  const pem = await textOf(directory, `${trustDomain}.pem`);
  if (pem !== undefined) return { anchors: pem };
  const text = await textOf(directory, `${trustDomain}.json`);
  if (text === undefined) {
    const file = `${trustDomain}.json or ${trustDomain}.pem`;
    const problem = `no bundle of trust domain ${trustDomain} is known; write its bundle of today, which you got by a safe way, as ${file} into ${directory}`;
    return { problem };
  }
  const bundle = readBundle(text);
  if (typeof bundle === 'string') return { problem: `${trustDomain}.json: ${bundle}` };
  return { anchors: writeAnchors(bundle.anchors) };
}

async function textOf(directory: string, name: string): Promise<string | undefined> {
  try {
    return await readFile(join(directory, name), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
