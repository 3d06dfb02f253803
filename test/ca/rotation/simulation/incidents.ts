// SPDX-License-Identifier: Apache-2.0
/** What befalls a CA from outside: its key is lost or spoilt, or it is trusted no longer. */
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { ROTATE_AT } from '#api/signer/rotation-annotations.ts';
import { formatTime } from '#api/object/time.ts';
import { MINUTE, isNamed } from './scenario.ts';
import { DISTRUST_GRACE_MS } from './thief.ts';
import { allIsLost, damageStatus } from './wipes.ts';
import type { Simulation } from './simulation.ts';

/** Until a fresh CA is made, though its maker is killed, and, where it has to be, has spread. */
const REPLACED_MS = 20 * MINUTE;
/** As above, but that it need not spread. */
const REPLACED_AT_ONCE_MS = 5 * MINUTE;

export type Incident = (sim: Simulation) => void;

function signerOf({ world }: Simulation): ClusterSigner {
  const { signer } = world.objects;
  if (signer === undefined) throw new TypeError('there is a ClusterSigner from the beginning');
  return signer;
}

export const nothing: Incident = () => undefined;

/** Signers need the Secret: they wait until the next CA is published. */
export const secretIsLost: Incident = (sim) => {
  sim.world.put('secret', undefined);
  sim.excusedUntil = sim.world.now + REPLACED_MS;
};

/** Nobody has to wait: who has read the key before goes on with it. */
export const secretIsSpoilt: Incident = ({ world }) => {
  const { secret } = world.objects;
  if (secret === undefined) return;
  world.put('secret', { ...secret, data: { ...secret.data, 'tls.key': '' } });
};

/** Half of it: the next CA's key does not belong to its certificate. */
export const nextIsSpoilt: Incident = ({ world }) => {
  const { secret } = world.objects;
  const key = secret?.data?.['tls.key'];
  if (secret?.data?.['next.key'] === undefined || key === undefined) return;
  world.put('secret', { ...secret, data: { ...secret.data, 'next.key': key } });
};

export const rotationIsAsked: Incident = (sim) => {
  const signer = signerOf(sim);
  const annotations = { ...signer.metadata.annotations, [ROTATE_AT]: formatTime(sim.world.now) };
  sim.world.put('signer', { ...signer, metadata: { ...signer.metadata, annotations } });
};

/** Nobody has to wait for longer than `authority` takes to look. */
export const statusIsLost: Incident = (sim) => {
  damageStatus(sim, allIsLost);
  sim.excuse(REPLACED_AT_ONCE_MS);
};

/** The CA that signs. */
export const activeIsDistrusted: Incident = (sim) => {
  const active = signerOf(sim).status?.authorities?.find(({ phase }) => phase === 'Active');
  if (active === undefined) return;
  distrust(sim, active.fingerprint, REPLACED_AT_ONCE_MS);
};

/** The CA before the one that signs. */
export const oldIsDistrusted: Incident = (sim) => {
  const old = signerOf(sim).status?.authorities?.find(({ phase }) => phase === 'Retiring');
  // Nobody has to wait: it signs no more.
  if (old !== undefined) distrust(sim, old.fingerprint, 0);
};

/**
 * This CA, in whatever phase it is. What the status no longer lists is taken out of `distrusted`,
 * as `revoke` advises where that is full.
 *
 * @param excuseMs - how long requests may have to wait
 */
export function distrust(sim: Simulation, fingerprint: string, excuseMs: number): void {
  const signer = signerOf(sim);
  const { managed } = signer.spec.authority;
  if (managed === undefined || isNamed(signer, fingerprint)) return;
  const listed = new Set(signer.status?.authorities?.map((each) => each.fingerprint));
  const kept = (managed.distrusted ?? []).filter((each) => listed.has(each));
  const authority = { managed: { ...managed, distrusted: [...kept, fingerprint] } };
  const spec = { ...signer.spec, authority };
  const generation = (signer.metadata.generation ?? 0) + 1;
  sim.laws.distrust(fingerprint);
  sim.later(sim.world.now + DISTRUST_GRACE_MS, () => {
    sim.laws.thief.mustBeDistrusted(fingerprint);
  });
  sim.excusedUntil = Math.max(sim.excusedUntil, sim.world.now + excuseMs);
  sim.world.put('signer', { ...signer, spec, metadata: { ...signer.metadata, generation } });
}
