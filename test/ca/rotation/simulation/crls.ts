// SPDX-License-Identifier: Apache-2.0
/**
 * The CRLs of a simulated signer, signed by what `authority` decides, and what must hold of them at
 * each moment.
 */
import assert from 'node:assert/strict';
import type { Secret } from '#api/object/object.ts';
import { decideLists } from '#trust/authority/crl/decide-lists.ts';
import { heldAuthorities } from '#trust/authority/crl/held-authorities.ts';
import { signDue, writeLists } from '#trust/authority/crl/write.ts';
import { SignerError, attempt } from '#base/errors.ts';
import type { RequestInit } from '#kube/client/client.ts';
import { decodeCertificateList } from '#pki/x509/certificate-list.ts';
import { listKey, type CrlConfigMap } from '#ca/revocation/published.ts';
import { areClocksApart, serverTime } from '#component/server-time.ts';
import { Dice } from '../../../oracle/dice.ts';
import { authorityLooks, type Next } from './at-work.ts';
import type { Leaf } from './laws.ts';
import { openOnce } from './open-once.ts';
import type { Process } from './process.ts';
import type { Simulation } from './simulation.ts';
import { DISTRUST_GRACE_MS } from './thief.ts';

interface Published {
  readonly number: bigint;
  readonly nextUpdate: number;
}

/** Throws where a verifier that checks CRLs would refuse a leaf that nobody revoked. */
export class Crls {
  /**
   * How often a CA had a key and a fresh CRL while its leaves lived, after it had stopped signing.
   */
  retired = 0;
  #configMap: CrlConfigMap | undefined;
  #version = 0;
  readonly #published = new Map<string, Published>();
  /** Fingerprint → when the last leaf of that CA ends. */
  readonly #lastLeaf = new Map<string, number>();
  readonly #distrustedSince = new Map<string, number>();
  readonly #dice: Dice;
  #sim: Simulation | undefined;

  constructor(seed: number) {
    this.#dice = new Dice(seed);
  }

  /** To be called once, before the simulation runs. */
  judge(sim: Simulation): void {
    this.#sim = sim;
    sim.laws.onDelivery = (leaf) => {
      this.#delivered(leaf);
    };
    sim.world.onChange(({ kind, object }) => {
      for (const each of sim.laws.distrusted) {
        if (!this.#distrustedSince.has(each)) this.#distrustedSince.set(each, sim.world.now);
      }
      if (kind === 'secret') this.#keysMustBeThere(object);
    });
  }

  /** What one look of `authority` does, its CRLs included. */
  readonly looks = async (process: Process): Promise<Next> => {
    const next = await authorityLooks(process);
    const { component, seen } = process;
    if (next === 'killed' || next === 'backoff' || areClocksApart(component)) return next;
    const { signer, secret } = seen;
    if (secret === undefined || signer?.spec.profile.crl === undefined) return next;
    const { crl } = signer.spec.profile;
    const now = serverTime(component);
    const before = { configMap: this.#configMap, revocations: [], open: openOnce, now };
    const { lists, gone, faults } = decideLists({ signer, crl, secret, ...before });
    const { lists: signed, faults: unsigned } = signDue({ lists });
    assert.deepEqual(
      [...faults, ...unsigned],
      [],
      `${new Date(now).toISOString()}: a CA that retires cannot sign its CRL`,
    );
    if (signed.length + gone.length > 0) {
      if (this.#dice.roll(7) === 0) return 'backoff';
      const client = { ...component.client, request: this.#write };
      await writeLists({ client, version: '1.2.3', signer }, this.#configMap, { signed, gone });
    }
    const times = lists.map((each) => each.next.lookAt);
    const all = next === undefined ? times : [...times, next];
    return all.length === 0 ? undefined : Math.min(...all);
  };

  /** Fingerprints of the CAs whose CRL is published. */
  get listed(): readonly string[] {
    return [...this.#published.keys()];
  }

  /** Every CRL that somebody may need now is there, and fresh. */
  mustBeFresh(): void {
    const { now } = this.#of().world;
    for (const each of this.#living()) {
      const nextUpdate = this.#published.get(each)?.nextUpdate ?? 0;
      assert.ok(nextUpdate > now, `the CRL of ${each} is stale at ${new Date(now).toISOString()}`);
    }
  }

  #of(): Simulation {
    assert.ok(this.#sim !== undefined);
    return this.#sim;
  }

  /** CAs with living leaves that nobody distrusts. */
  #living(): readonly string[] {
    const { world, laws } = this.#of();
    for (const [each, end] of this.#lastLeaf) if (end <= world.now) this.#lastLeaf.delete(each);
    return [...this.#lastLeaf.keys()].filter(
      (each) => !laws.distrusted.has(each) && !laws.crosses.hasCertified(each, laws.distrusted),
    );
  }

  #delivered({ authority, notAfter }: Leaf): void {
    const { world, laws } = this.#of();
    const { fingerprint, notBefore } = authority.facts;
    const isFirst = this.#lastLeaf.size === 0 || laws.atOnce.has(fingerprint);
    // It was made in the place of none, or of one that is distrusted: nothing was prepared.
    if (isFirst && world.now < notBefore + DISTRUST_GRACE_MS) return;
    this.#lastLeaf.set(fingerprint, Math.max(notAfter, this.#lastLeaf.get(fingerprint) ?? 0));
    this.mustBeFresh();
  }

  #keysMustBeThere(secret: Secret | undefined): void {
    const { world } = this.#of();
    const all = secret === undefined ? [] : heldAuthorities(secret);
    const held = new Map(all.map(({ fingerprint, material }) => [fingerprint, material]));
    for (const each of this.#living()) {
      const material = held.get(each);
      assert.ok(material !== undefined, `the key of ${each} is gone while its leaves live`);
      const opened = attempt(() => openOnce(material, world.now));
      assert.ok(!(opened instanceof SignerError), `the key of ${each} signs no CRL`);
      if (secret?.data?.[`retired-${each.slice(7, 23)}.key`] !== undefined) this.retired += 1;
    }
    for (const [each, since] of this.#distrustedSince) {
      if (world.now < since + DISTRUST_GRACE_MS) continue;
      assert.ok(!held.has(each), `the Secret keeps the key of ${each}, which is distrusted`);
    }
  }

  /** As the API server does: stored, fenced by the version that was read, merged (RFC 7396). */
  readonly #write = <T>({ method, body }: RequestInit): Promise<T> => {
    const patch = body as CrlConfigMap;
    const before = this.#configMap;
    assert.equal(method, before === undefined ? 'POST' : 'PATCH');
    assert.equal(patch.metadata.resourceVersion, before?.metadata.resourceVersion);
    this.#version += 1;
    const metadata = {
      ...before?.metadata,
      ...patch.metadata,
      resourceVersion: String(this.#version),
    };
    const binaryData = merged(before?.binaryData, patch.binaryData);
    this.#configMap = { ...patch, metadata, binaryData, data: merged(before?.data, patch.data) };
    this.#listed(binaryData);
    return Promise.resolve(this.#configMap as T);
  };

  #listed(binaryData: Readonly<Record<string, string>>): void {
    const { now } = this.#of().world;
    this.mustBeFresh();
    for (const [key, base64] of Object.entries(binaryData)) {
      const fingerprint = `sha256:${key.replace('.crl', '')}`;
      const { number, nextUpdate } = decodeCertificateList(Buffer.from(base64, 'base64'));
      const before = this.#published.get(fingerprint);
      if (before?.nextUpdate === nextUpdate && before.number === number) continue;
      assert.ok(number > (before?.number ?? 0n), 'a CRL number goes back');
      assert.ok(nextUpdate > now);
      this.#published.set(fingerprint, { number, nextUpdate });
    }
    for (const each of this.#published.keys()) {
      if (binaryData[listKey(each)] === undefined) this.#published.delete(each);
    }
    this.mustBeFresh();
  }
}

function merged(
  before: Readonly<Record<string, string>> = {},
  patch: Readonly<Record<string, string | null>> = {},
): Readonly<Record<string, string>> {
  const all = Object.entries({ ...before, ...patch });
  return Object.fromEntries(all.filter((each): each is [string, string] => each[1] !== null));
}
