// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import type { ClusterTrustBundle } from '../api/object/cluster-trust-bundle.ts';
import { selects } from '../api/object/label-selector.ts';
import { parseTime } from '../api/object/time.ts';
import { TextIndex } from '../text-index.ts';
import { publishedAnchors } from '../pki/x509/trust-bundle.ts';
import type { CurrentLeaf } from './leaf.ts';
import type { UsedBundle } from './used-credentials.ts';

/** A bundle, and since when its anchors are known to be what they are. */
interface KnownBundle {
  readonly bundle: ClusterTrustBundle;
  readonly anchors: readonly string[];
  /** Undefined: they were so when this process first saw it. */
  readonly changedAt: number | undefined;
}

/** How long an application that does not read its anchors again may keep the old ones, at most thrice. */
const BUNDLE_PATIENCE_MS = 24 * 60 * 60_000;

/**
 * The ClusterTrustBundles that are mounted. A bundle does not say when its anchors changed, so a workload whose template
 * records nothing of it is restarted only for a change that this process has seen: to start it restarts nobody.
 */
export class TrustBundles {
  readonly #bundles = new Map<string, KnownBundle>();
  readonly #signers = new TextIndex<KnownBundle>(({ bundle }) => bundle.spec.signerName ?? '');

  /** @param time - milliseconds since the epoch */
  onBundle(key: string, now: ClusterTrustBundle | undefined, time: number): void {
    const known = this.#bundles.get(key);
    if (now === undefined) {
      this.#bundles.delete(key);
      this.#signers.change(key, undefined, known);
      return;
    }
    const anchors = anchorsOf(now.spec.trustBundle);
    const isSame = known === undefined || known.anchors.join() === anchors.join();
    const seen = { bundle: now, anchors, changedAt: isSame ? known?.changedAt : time };
    this.#bundles.set(key, seen);
    this.#signers.change(key, seen, known);
  }

  /** What the kubelet writes for a projection; undefined where nothing is known to have changed. */
  of(used: UsedBundle, recorded: string | undefined): CurrentLeaf | undefined {
    const found = this.#used(used);
    if (found.length === 0) return undefined;
    const changes = found.flatMap(({ changedAt }) => changedAt ?? []);
    if (changes.length === 0 && recorded === undefined) return undefined;
    const anchors = [...new Set(found.flatMap((each) => each.anchors))].sort();
    const lastWrite = Math.max(...found.map(({ bundle }) => writtenAt(bundle)));
    const issuedAt = changes.length === 0 ? lastWrite : Math.max(...changes);
    return {
      hash: createHash('sha256').update(anchors.join()).digest('hex'),
      issuedAt,
      writtenBy: issuedAt,
      isFirst: false,
      remaining: BUNDLE_PATIENCE_MS,
    };
  }

  #used({ name, signerName, labelSelector }: UsedBundle): readonly KnownBundle[] {
    if (name !== undefined) {
      const named = this.#bundles.get(name);
      return named === undefined ? [] : [named];
    }
    // core/v1: no selector selects nothing, an empty one everything.
    if (signerName === undefined || labelSelector === undefined) return [];
    return this.#signers
      .get(signerName)
      .filter(({ bundle }) => selects(labelSelector, bundle.metadata.labels));
  }
}

/** Their fingerprints, sorted: the order of anchors, and comments between them, mean nothing. */
function anchorsOf(pem: string): readonly string[] {
  return [...publishedAnchors(pem).keys()].sort();
}

/** The last write of anybody: the anchors are at least as old. */
function writtenAt({ metadata }: ClusterTrustBundle): number {
  const { managedFields = [] } = metadata as {
    readonly managedFields?: readonly { readonly time?: string }[];
  };
  const times = managedFields.map(({ time = '' }) => parseTime(time));
  return Math.max(
    parseTime(metadata.creationTimestamp),
    ...times.filter((time) => !Number.isNaN(time)),
  );
}
