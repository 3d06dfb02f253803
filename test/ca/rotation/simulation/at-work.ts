// SPDX-License-Identifier: Apache-2.0
/** What each component does with one look: the real decisions, and the real deeds. */
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { parseDuration } from '#api/object/duration.ts';
import type { Authority } from '#ca/custody/contract.ts';
import { createCrossSign } from '#ca/custody/cross-sign.ts';
import { openOnce } from './open-once.ts';
import { createCaRequest, createManagedAuthorities } from '#ca/custody/managed.ts';
import { act } from '#trust/attester/act.ts';
import { decide as decideBundle } from '#trust/attester/decide.ts';
import { createActor } from '#trust/authority/apply/actor.ts';
import { decide } from '#trust/authority/decide/decide.ts';
import { inspectWith } from '#trust/authority/decide/inspect.ts';
import { returnedChain } from '#trust/authority/decide/upstream.ts';
import type { Vaults } from '#trust/authority/upstream/vault/index.ts';
import { SignerError } from '#base/errors.ts';
import { leafValidity, type Validity } from '#ca/issuance/validity.ts';
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import { resource } from '#kube/resource/resource.ts';
import { createOpenedSecrets, type OpenedSecrets } from '#requests/ca/opened-secrets.ts';
import type { Component } from '#component/contract.ts';
import { CLUSTER_SIGNERS } from '#component/signers/cluster-signers.ts';
import { areClocksStillApart, serverTime } from '#component/server-time.ts';
import { crossCertificates } from '#requests/issuing/cross-certificate.ts';
import { usableAuthority } from '#requests/ca/usable-authority.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import { Killed, type Process } from './process.ts';

const BUNDLES = resource({
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'clustertrustbundles',
});
export const BUNDLE_NAME = 'example.com:workload:primary';

/** When a process looks again if nothing happens; 'backoff' soon, 'killed' when it is restarted. */
export type Next = number | 'backoff' | 'killed' | undefined;

/** @param answerFor - what an upstream CA answers, where the spec has one */
export async function authorityLooks(
  process: Process,
  answerFor: Vaults['answerFor'] = () => undefined,
): Promise<Next> {
  const { component, seen } = process;
  const { signer, secret, bundle } = seen;
  if (signer === undefined) return undefined;
  const asked = await askedTheTime(component);
  if (typeof asked !== 'boolean') return asked.next;
  const [clocksApart, now] = [asked, serverTime(component)];
  const upstreamAnswer = answerFor(signer, secret);
  const plan = decide({
    signer,
    upstreamAnswer,
    elder: undefined,
    serving: undefined,
    specError: undefined,
    secret: secret === undefined ? { kind: 'missing' } : { kind: 'found', secret },
    inspect: inspectWith(openOnce, now, signer),
    bundle,
    isBundleKnown: true,
    secretNamespace: component.secretNamespace,
    propagationSeconds: component.propagationSeconds,
    clocksApart,
    now,
  });
  const actor = createActor({
    component,
    create: createManagedAuthorities(component.random),
    createRequest: createCaRequest,
    crossSign: createCrossSign(component.random),
    version: '1.2.3',
    observe: (written) => {
      process.observe('secret', written);
    },
  });
  const chain = returnedChain(upstreamAnswer);
  return settled(
    async () =>
      (await actor.apply({ signer, secret, plan, chain, clocksApart, now })) ?? plan.requeueAt,
  );
}

export async function attesterLooks(process: Process): Promise<Next> {
  const { component, seen } = process;
  const asked = await askedTheTime(component);
  if (typeof asked !== 'boolean') return asked.next;
  const [clocksApart, now] = [asked, serverTime(component)];
  const plan = decideBundle({
    name: BUNDLE_NAME,
    bundle: seen.bundle,
    lost: undefined,
    signer: seen.signer,
    serving: seen.signer,
    unreadable: false,
    isListed: true,
    secretNamespace: component.secretNamespace,
    clocksApart,
    now,
  });
  return settled(async () => {
    const written = await act({ component, resource: BUNDLES, plan, judgedAt: now, clocksApart });
    if (written === 'backoff') return 'backoff';
    if (written !== undefined) process.observe('bundle', written);
    return 'requeueAt' in plan ? plan.requeueAt : undefined;
  });
}

/**
 * Whether its clock and the API server's are apart, as each component asks; or what became of
 * asking.
 */
async function askedTheTime(component: Component): Promise<boolean | { readonly next: Next }> {
  const path = CLUSTER_SIGNERS.object({ name: 'workload' });
  let apart = false;
  const next = await settled(async () => {
    const ask = (): Promise<unknown> => component.client.request({ method: 'GET', path });
    apart = await areClocksStillApart(component, ask);
    return undefined;
  });
  return next === undefined ? apart : { next };
}

async function settled(deed: () => Promise<ReconcileResult | number>): Promise<Next> {
  try {
    const next = await deed();
    if (typeof next !== 'object') return next;
    return 'requeueAt' in next ? next.requeueAt : next.backoffUntil;
  } catch (error) {
    if (error instanceof Killed) return 'killed';
    if (error instanceof SignerError) return 'backoff';
    throw error;
  }
}

/** The memory of one signer. */
export function openedBy({ component }: Process): OpenedSecrets {
  return createOpenedSecrets(openOnce, () => serverTime(component));
}

export interface Signed {
  readonly authority: Authority;
  readonly validity: Validity;
  /** As the signer saw it. */
  readonly signer: ClusterSigner;
  /** What goes with the leaf for those who have an old root alone. */
  readonly cross: readonly Certificate[];
}

/** A leaf of the longest life that the profile allows, or why there is none now. */
export function signLeaf({ component, seen }: Process, opened: OpenedSecrets): Signed {
  const { signer, secret, bundle } = seen;
  if (signer === undefined) throw new TypeError('there is a ClusterSigner from the beginning');
  const authority = usableAuthority({
    signer,
    secret,
    bundle,
    open: opened.open,
    last: opened.last,
    propagationSeconds: component.propagationSeconds,
    now: serverTime(component),
  });
  if (secret !== undefined) opened.signedWith(secret, authority);
  const { profile } = signer.spec;
  const validity = leafValidity({
    now: serverTime(component),
    lifetimeSeconds: parseDuration(profile.maxDuration),
    backdateSeconds: parseDuration(profile.backdate),
    minimumSeconds: 600,
    issuer: authority.facts,
  });
  const cross = crossCertificates(signer, authority.facts, validity);
  return { authority, validity, signer, cross };
}
