// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { federatedBundleName } from '#api/object/federated-bundle.ts';
import { messageOf } from '#base/errors.ts';
import type { Reflector } from '#kube/watch/reflector.ts';
import { writeAnchors } from '#pki/x509/trust-bundle.ts';
import type { Component } from '#component/contract.ts';
import type { ForeignDomain } from '../spiffe/foreign-domain.ts';
import { readBundle } from '../spiffe/read-bundle.ts';
import { trustDomainOf } from '../spiffe/trust-domain.ts';
import { isOwn } from './decide.ts';
import { FEDERATION_SECRET } from './flags.ts';
import { NEVER_FETCHED, type FetchState } from './report-change.ts';
import * as messages from './messages.ts';

/** PEM of the CAs to verify a server with (undefined for the public web CAs), or a problem. */
export type KnownAnchors = { readonly anchors: string | undefined } | { readonly problem: string };

/**
 * Returns the CAs to verify a bundle endpoint with. Never throws.
 *
 * For `https_spiffe`: the latest accepted bundle of the server's trust domain. Before the first
 * one, and after a drop, the administrator's file (SPIFFE Federation §5.2.2.4).
 *
 * For `https_web`: the CAs in `<trust domain>.crt`, otherwise the public web CAs.
 *
 * @param latest - returns the PEM of the latest accepted bundle of a trust domain
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

/** Bundles known to this process and to the cluster. */
interface KnownBundles {
  readonly component: Pick<Component, 'secretNamespace'>;
  readonly fetchStates: ReadonlyMap<string, FetchState>;
  readonly bundles: Pick<Reflector<ClusterTrustBundle>, 'get'>;
}

/**
 * Returns the PEM of the latest accepted bundle, from this process or from the previous leader.
 * Returns undefined after a drop, even if a watch still shows the bundle.
 */
export function latestBundle(
  { component, fetchStates, bundles }: KnownBundles,
  trustDomain: string,
): string | undefined {
  const { text, dropped } = fetchStates.get(trustDomain) ?? NEVER_FETCHED;
  if (text !== undefined) return text;
  const existing = bundles.get(federatedBundleName(trustDomain));
  if (existing === undefined || existing.metadata.uid === dropped) return undefined;
  const isManaged = isOwn(existing, trustDomain, component.secretNamespace);
  return isManaged ? existing.spec.trustBundle : undefined;
}

async function bootstrap(directory: string, trustDomain: string): Promise<KnownAnchors> {
  const pem = await textOf(directory, `${trustDomain}.pem`);
  if (pem !== undefined) return { anchors: pem };
  const text = await textOf(directory, `${trustDomain}.json`);
  if (text === undefined) {
    const file = messages.bootstrapFile(trustDomain);
    const problem = messages.unknownBundle(trustDomain, {
      file,
      secret: FEDERATION_SECRET,
      directory,
    });
    return { problem };
  }
  const bundle = readBundle(text);
  if (typeof bundle === 'string') return { problem: messages.unreadableFile(trustDomain, bundle) };
  return { anchors: writeAnchors(bundle.anchors) };
}

async function textOf(directory: string, name: string): Promise<string | undefined> {
  try {
    return await readFile(join(directory, name), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
