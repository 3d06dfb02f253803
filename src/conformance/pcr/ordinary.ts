// SPDX-License-Identifier: Apache-2.0
import { isSkipped } from '../observed-request.ts';
import type { Verdict } from '../case.ts';
import { onLeaf, onTrial, type LeafLaw, type TrialLaw } from '../snapshot.ts';
import type { PcrScene, PcrWorld } from './snapshot.ts';

/** The kit's own request where it may make one, a kubelet's else. */
function ordinary({ scenes }: PcrWorld): PcrScene {
  return isSkipped(scenes.plain) ? 'pod' : 'plain';
}

export function onOrdinary(law: TrialLaw): (world: PcrWorld) => Verdict {
  return (world) => onTrial<PcrScene>(ordinary(world), law)(world);
}

export function onOrdinaryLeaf(law: LeafLaw): (world: PcrWorld) => Verdict {
  return (world) => onLeaf<PcrScene>(ordinary(world), law)(world);
}
