// SPDX-License-Identifier: Apache-2.0
import { secretOf, type ClusterSigner } from '../../api/signer/cluster-signer.ts';
import { bundleName, type ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import { keyOf } from '../../api/object/object.ts';
import type { CreateAuthority, CrossSign, OpenAuthority } from '../../authorities/contract.ts';
import { SignerError, attempt } from '../../errors.ts';
import { compileProfile } from '../../issuance/profile.ts';
import { ignoreNotFound } from '../../kube/client/kube-error.ts';
import { createReflector } from '../../kube/watch/reflector.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import { runLoop, type ReconcileResult } from '../../kube/workqueue/run-loop.ts';
import { createWatchSet, type WatchSet } from '../../kube/watch/watch-set.ts';
import { compileCertificateRequestPolicy, compilePolicy } from '../../policy/compile-policy.ts';
import { createAllSigners, resourceOf } from '../../runtime/signers/all-signers.ts';
import type { Component, Controller } from '../../runtime/component/component.ts';
import { toOutcome } from '../../runtime/requests/error-outcome.ts';
import { compileOncePerGeneration } from '../../runtime/signers/compile-cache.ts';
import { namesOf } from '../../runtime/rbac/permission-names.ts';
import { createSecretWatches } from '../../runtime/ca/secret-watches.ts';
import { areClocksStillApart, requeueAt, serverTime } from '../../runtime/component/server-time.ts';
import { createActor } from './apply/actor.ts';
import { decide } from './decide/decide.ts';
import { invalidSpecStatus } from './decide/invalid-spec.ts';
import { inspectWith, type ObservedSecret } from './decide/inspect.ts';
import { createOwnTls, type OwnTlsPlace, type WatchedCa } from './own-tls/index.ts';
import { permissions } from './permissions.ts';
import type { FlowAssignment } from '../../kube/workqueue/fair-queue.ts';

export interface AuthorityInit {
  readonly component: Component;
  readonly open: OpenAuthority;
  readonly create: CreateAuthority;
  readonly crossSign: CrossSign;
  /** The ClusterTrustBundle resource in the version that the server has. */
  readonly bundles: Resource;
  /** Of ourselves. */
  readonly version: string;
  /** Where the certificates of our own ports lie; absent: nobody's are made. */
  readonly ownTls?: OwnTlsPlace | undefined;
}

const SIGNER_WORKERS = 2;

/** Checks signers, makes and rotates managed CAs, and writes the status of every signer. */
export function createAuthorityController(init: AuthorityInit): Controller {
  const { component, open } = init;
  const { queue } = component;
  const signers = createAllSigners(component, (keys) => {
    const known = signers.known();
    secrets.serve(known);
    bundles.reconcile(known.filter(isPublished).map(({ spec }) => spec.signerName));
    ownTls?.serve(signers.all());
    for (const key of keys) queue.add(key);
  });
  const wakeUsersOf = (secretKey: string): void => {
    for (const each of signers.known()) {
      if (keyOf(secretOf(each.spec)) === secretKey) queue.add(keyOf(each.metadata));
    }
  };
  const secrets = createSecretWatches({ component, onEvent: wakeUsersOf, onSynced: wakeUsersOf });
  const bundles = createWatchSet<ClusterTrustBundle>((signerName) =>
    createReflector<ClusterTrustBundle>({
      ...component,
      path: init.bundles.collection(),
      fieldSelector: `spec.signerName=${signerName}`,
      onEvent: () => {
        const signer = signers.serving(signerName);
        if (signer !== undefined) queue.add(signer.metadata.name);
      },
    }),
  );
  const actor = createActor({
    ...init,
    observe: (secret) => secrets.observe(secret),
  });
  const compiled = compileOncePerGeneration((signer: ClusterSigner) => {
    compileProfile(signer.spec);
    compilePolicy(signer.spec);
    compileCertificateRequestPolicy(signer.spec);
  });

  function look(signer: ClusterSigner): ObservedSecret {
    const watch = secrets.of(signer);
    if (watch?.synced !== true) return { kind: 'unknown', failure: watch?.failure };
    const secret = secrets.get(signer);
    return secret === undefined ? { kind: 'missing' } : { kind: 'found', secret };
  }

  function bundleOf({ spec }: ClusterSigner): ClusterTrustBundle | undefined {
    const { signerName, trustBundle } = spec;
    if (trustBundle === undefined) return undefined;
    return bundles.get(signerName)?.get(bundleName(signerName, trustBundle.name));
  }

  const ownTls = init.ownTls && createOwnTls({ ...init, place: init.ownTls, watched: watchedOf });

  function watchedOf(signer: ClusterSigner): WatchedCa | undefined {
    const secret = look(signer);
    const bundle = bundleOf(signer);
    const listed = !isPublished(signer) || bundles.get(signer.spec.signerName)?.synced === true;
    if (secret.kind === 'unknown' || !listed) return undefined;
    return { secret: secret.kind === 'found' ? secret.secret : undefined, bundle };
  }

  component.shard.onChange(() => {
    ownTls?.wake();
    for (const key of signers.keys()) queue.add(key);
  });

  queue.assignFlows(fairnessKeyOf);

  async function handle(key: string): Promise<ReconcileResult> {
    if (!component.shard.owns(key)) return undefined;
    return ownTls?.owns(key) === true ? ownTls.handle(key) : handleSigner(key);
  }

  function ask(signer: ClusterSigner): Promise<unknown> {
    const path = resourceOf(signer).object(signer.metadata);
    return component.client.request({ method: 'GET', path }).catch(ignoreNotFound);
  }

  async function handleSigner(key: string): Promise<ReconcileResult> {
    const faulty = signers.faulty(key);
    if (faulty !== undefined) {
      await actor.writeStatus(faulty.object, invalidSpecStatus(faulty, serverTime(component)));
      return undefined;
    }
    const signer = signers.get(key);
    if (signer === undefined) return undefined;
    const specError = attempt(() => compiled(signer));
    const clocksApart = await areClocksStillApart(component, () => ask(signer));
    const secret = look(signer);
    const now = serverTime(component);
    const plan = decide({
      signer,
      elder: signers.elderOf(key),
      specError: specError instanceof SignerError ? specError : undefined,
      secret,
      inspect: inspectWith(open, now),
      bundle: bundleOf(signer),
      isBundleKnown: bundles.get(signer.spec.signerName)?.synced === true,
      secretNamespace: component.secretNamespace,
      propagationSeconds: component.propagationSeconds,
      clocksApart,
      now,
    });
    const found = secret.kind === 'found' ? secret.secret : undefined;
    const again = await actor.apply({ signer, secret: found, plan, clocksApart, now });
    if (signer.spec.signerName === init.ownTls?.signerName) ownTls?.wake();
    return again ?? requeueAt(component, plan.requeueAt);
  }

  return {
    permissions: () =>
      permissions({ ...namesOf(signers.all(), component), ownTls: ownTls?.namespace }),
    notReady: () =>
      [
        ...(signers.settled && signers.failure === undefined ? [] : [signers.failure]),
        ...[...secrets.unread(), ...unread(bundles)].map(([, each]) => each.failure),
      ]
        .map((failure) => `ClusterSigners, CA Secrets or bundles: ${failure ?? 'not listed yet'}`)
        .concat(ownTls?.notReady() ?? []),
    warnings: () => [...signers.warnings(), ...(ownTls?.warnings() ?? [])],
    run: async (signal) => {
      const watching = signers.run(signal);
      const onError = (key: string, error: unknown): void => tell(component, key, error);
      await runLoop({ ...component, workers: SIGNER_WORKERS, handle, onError }, signal);
      await Promise.all([watching, secrets.stop(), bundles.stop(), ownTls?.stop()]);
    },
  };
}

function unread<T>(watches: WatchSet<T>): ReturnType<WatchSet<T>['entries']> {
  return watches.entries().filter(([, each]) => !each.synced || each.failure !== undefined);
}

function isPublished({ spec }: ClusterSigner): boolean {
  return spec.trustBundle !== undefined;
}

function tell(component: Component, key: string, error: unknown): void {
  if (!(error instanceof SignerError)) {
    component.log.error({ key, error: String(error) }, 'an unexpected error; it is tried again');
    return;
  }
  const {
    message = '',
    reason,
    event,
  } = toOutcome(error, component.name, component.client.clockOffset());
  component.log.warn({ key, reason, error: message }, 'a signer waits');
  // Beside a Signer there is no right to write Events: its status says what is wrong.
  if (event === undefined || key.includes('/')) return;
  const regarding = { apiVersion: 'countersign.dev/v1alpha1', kind: 'ClusterSigner', name: key };
  component.events.record({ ...event, regarding });
}

/**
 * Signers by their namespaces, ClusterSigners, and our own ports take turns: who writes one Signer after
 * the other holds up those of his own namespace, not the rotation of everybody's CAs.
 */
export function fairnessKeyOf(key: string): FlowAssignment {
  return { distinguishers: [key.slice(0, key.indexOf('/') + 1)] };
}
