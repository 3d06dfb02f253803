// SPDX-License-Identifier: Apache-2.0
import { unless } from '../case.ts';
import { namesOf } from '../assertions/names.ts';
import type { LeafLaw } from '../snapshot.ts';

/** Whoever writes a stub may write anything into it: the kubelet's is empty (KEP-4317). */
export const namesNothingOf: LeafLaw = ({ leaf, trial }) => {
  const { names } = trial.asked;
  const stub = [
    ...(names.commonName === '' ? [] : [`CN ${names.commonName}`]),
    ...names.organizations.map((name) => `O ${name}`),
    ...names.dnsNames.map((name) => `DNS ${name}`),
    ...names.uris.map((name) => `URI ${name}`),
  ];
  const copied = namesOf(leaf).filter((name) => stub.includes(name));
  return unless(
    copied.length === 0 ? undefined : `copied from the stub: ${copied.join(', ')}`,
    namesOf(leaf).join(', '),
  );
};
