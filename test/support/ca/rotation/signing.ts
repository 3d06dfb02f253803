// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { materialOf } from '#requests/ca/usable-authority.ts';
import { openedBy, signLeaf } from '../../../ca/rotation/simulation/at-work.ts';
import type { Simulation } from '../../../ca/rotation/simulation/simulation.ts';

/** The CA that a process which has just started signs with, or why it waits. */
export function freshlySigns(sim: Simulation): string {
  const [signer] = sim.signers;
  assert.ok(signer !== undefined);
  const signed = attempt(() => signLeaf(signer.process, openedBy(signer.process)));
  return signed instanceof SignerError ? signed.code : signed.authority.facts.fingerprint;
}

/** The CA in `tls.*`, which must be one. */
export function inTls({ world }: Simulation): string {
  const { secret } = world.objects;
  assert.ok(secret !== undefined);
  return openLocalAuthority(materialOf(secret), world.now).facts.fingerprint;
}
