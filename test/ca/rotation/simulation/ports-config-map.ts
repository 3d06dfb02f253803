// SPDX-License-Identifier: Apache-2.0
/**
 * The ConfigMap of our own ports, filled in by what `authority` decides, and lost in every way:
 * deleted, emptied, or put back from a backup of any age. What is out of trust must not be in it.
 */
import assert from 'node:assert/strict';
import type { ConfigMap } from '#api/object/object.ts';
import { SERVED_SINCE } from '#api/object/cluster-trust-bundle.ts';
import { FILLED_BY } from '#api/signer/own-tls.ts';
import { ANCHORS_KEY, decideBundle } from '#trust/authority/own-tls/decide-bundle.ts';
import { writeBundle } from '#trust/authority/own-tls/write.ts';
import type { RequestInit } from '#kube/client/client.ts';
import { anchorFingerprints } from '#pki/x509/trust-bundle.ts';
import { distrustedCas } from '#ca/rotation/distrusted-cas.ts';
import { areClocksApart, serverTime } from '#component/server-time.ts';
import { Dice } from '../../../oracle/dice.ts';
import { patched } from '../../../support/kube/json-patch.ts';
import { authorityLooks, type Next } from './at-work.ts';
import type { Process } from './process.ts';
import { DAY, HOUR, MINUTE } from './scenario.ts';
import type { Simulation } from './simulation.ts';
import { DISTRUST_GRACE_MS } from './thief.ts';

const NAME = 'countersign-serving-ca';
/** So many backups are kept, of any age. */
const COPIES = 12;
const MEAN_MS = 30 * DAY;

/** Throws where the ConfigMap is of use to a thief, or lacks what is published. */
export class PortsConfigMap {
  losses = 0;
  writes = 0;
  readonly #dice: Dice;
  readonly #copies: ConfigMap[] = [];
  #configMap: ConfigMap | undefined = emptyAt('0');
  #version = 0;
  #sim: Simulation | undefined;
  /** Until then it may hold, or lack, what a loss left. */
  #lateUntil = 0;

  constructor(seed: number) {
    this.#dice = new Dice(seed);
  }

  /** To be called once, before the simulation runs. */
  judge(sim: Simulation): void {
    this.#sim = sim;
    sim.laws.thief.onCheck = () => {
      this.#mustNotLeadBack();
    };
    this.#loseLater(sim);
  }

  /** What one look of `authority` does, the ConfigMap included. */
  readonly looks = async (process: Process): Promise<Next> => {
    const next = await authorityLooks(process);
    const { component, seen } = process;
    const { signer, bundle } = seen;
    if (next === 'killed' || signer === undefined || areClocksApart(component)) return next;
    const { spec } = signer;
    const plan = decideBundle({
      name: NAME,
      configMap:
        this.#configMap === undefined
          ? { kind: 'missing' }
          : { kind: 'found', configMap: this.#configMap },
      signerName: spec.signerName,
      bundle,
      isDistrusted: distrustedCas(signer),
      now: serverTime(component),
    });
    if (plan.kind !== 'write') return next;
    if (this.#dice.roll(7) === 0) return 'backoff';
    const client = { ...component.client, request: this.#write };
    await writeBundle({ client, version: '1.2.3', signer }, plan);
    return next;
  };

  /** In the end it holds what the bundle holds, as every client needs it. */
  mustBeWhole(): void {
    const { world, laws } = this.#of();
    if (world.now <= this.#lateUntil || laws.thief.isLate) return;
    const published = anchorFingerprints(world.objects.bundle?.spec.trustBundle ?? '');
    const isDistrusted = distrustedCas(world.objects.signer ?? assert.fail('no ClusterSigner'));
    const wanted = [...published].filter((each) => !isDistrusted(each));
    assert.deepEqual([...this.#anchors()].sort(), wanted.sort());
  }

  #of(): Simulation {
    assert.ok(this.#sim !== undefined);
    return this.#sim;
  }

  #anchors(): ReadonlySet<string> {
    return anchorFingerprints(this.#configMap?.data?.[ANCHORS_KEY] ?? '');
  }

  #mustNotLeadBack(): void {
    if (this.#of().world.now <= this.#lateUntil) return;
    this.#of().laws.thief.mustNotTrust(this.#configMap?.data?.[ANCHORS_KEY] ?? '', 'the ConfigMap');
  }

  #loseLater(sim: Simulation): void {
    sim.later(sim.world.now + HOUR + this.#dice.roll(2 * MEAN_MS), () => {
      this.#lose(sim);
      this.#loseLater(sim);
    });
  }

  #lose(sim: Simulation): void {
    this.losses += 1;
    const known = this.#configMap;
    const away = this.#dice.roll(HOUR);
    const back = this.#dice.of(['same', 'copy', 'copy', 'empty'] as const);
    const copy = this.#copies.length === 0 ? undefined : this.#dice.of(this.#copies);
    this.#configMap = undefined;
    this.#lateUntil = sim.world.now + away + DISTRUST_GRACE_MS;
    // Whoever deleted it, or applied too much, notices, and puts back what is at hand.
    sim.later(sim.world.now + away, () => {
      this.#version += 1;
      const made = (back === 'same' ? known : back === 'copy' ? copy : undefined) ?? emptyAt('0');
      const resourceVersion = String(this.#version);
      this.#configMap = { ...made, metadata: { ...made.metadata, resourceVersion } };
      // Its watch tells.
      sim.authority.lookAt = Math.min(
        sim.authority.lookAt,
        sim.world.now + this.#dice.roll(MINUTE),
      );
    });
    sim.later(this.#lateUntil + 1, () => {
      this.#mustNotLeadBack();
    });
  }

  /** As the API server does: fenced by the version that was read. */
  readonly #write = <T>({ method, body }: RequestInit): Promise<T> => {
    assert.equal(method, 'PATCH');
    const before = this.#configMap;
    assert.ok(before !== undefined);
    this.writes += 1;
    this.#version += 1;
    const after = patched(before, body as never);
    const metadata = { ...after.metadata, resourceVersion: String(this.#version) };
    this.#configMap = { ...after, metadata };
    if (this.#dice.roll(8) === 0) {
      const at = this.#copies.length < COPIES ? this.#copies.length : this.#dice.roll(COPIES);
      this.#copies[at] = this.#configMap;
    }
    assert.deepEqual(
      Object.keys(JSON.parse(metadata.annotations?.[SERVED_SINCE] ?? '{}') as object).sort(),
      [...this.#anchors()].sort(),
    );
    this.#mustNotLeadBack();
    return Promise.resolve(this.#configMap as T);
  };
}

/** As deploy/own-tls.yaml makes it. */
function emptyAt(resourceVersion: string): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      namespace: 'countersign-system',
      name: NAME,
      uid: 'c-1',
      resourceVersion,
      creationTimestamp: '2026-01-01T00:00:00Z',
      annotations: { [FILLED_BY]: 'example.com/workload' },
    },
  };
}
