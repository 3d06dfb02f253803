// SPDX-License-Identifier: Apache-2.0
import { grantRefusal, type Http01Grant } from '../solving/http/grants.ts';
import type { SolverGrant } from '../solving/http/grants.ts';
import { solversRefusal } from '../solving/namespaced.ts';
import { solverOf } from '../solving/solver-of.ts';
import type { ChallengeSolver, SolverContext } from '../solving/solver.ts';
import { needsSolver, type AcmeSigner, type AcmeSolver } from '#api/acme/acme-signer.ts';
import type { Challenge } from '#api/acme/challenge.ts';
import type { Secret } from '#api/object/object.ts';
import { attempt, messageOf, SignerError } from '#base/errors.ts';
import type { Component } from '#component/contract.ts';
import type { SolverWatches } from './watched.ts';
import { SECRETS } from '#kube/resource/core-v1.ts';
import * as messages from './messages.ts';

/** Parts of solvers that all signers share. */
export type SolverSurroundings = Omit<
  SolverContext,
  'ownNamespace' | 'credentialNamespace' | 'credential' | 'askNamed' | 'guard'
> & {
  /** Clients and guard for the servers that AcmeSigners name. */
  readonly namespaced: Pick<SolverContext, 'http' | 'askNamed' | 'guard'>;
};

/**
 * Returns the solver of a Challenge, or the problem, whose CamelCase reason is for the Challenge's
 * status. Returns undefined if there is nothing to present.
 */
export type SolverLookup = (
  challenge: Challenge,
) =>
  | { readonly solver: ChallengeSolver }
  | { readonly problem: { readonly reason: string; readonly message: string } }
  | undefined;

/**
 * Creates the lookup of a Challenge's solver.
 *
 * @param clusterCredentials - namespace of the credentials of AcmeClusterSigners
 * @param ownNamespace - namespace of the components, for routes
 */
export function createSolverLookup(init: {
  readonly component: Component;
  readonly watched: SolverWatches;
  readonly surroundings: SolverSurroundings;
  readonly http01Grants: readonly Http01Grant[];
  readonly solverGrants: readonly SolverGrant[];
  readonly clusterCredentials: string;
  readonly ownNamespace: string;
}): SolverLookup {
  const { component, watched, surroundings, http01Grants, ownNamespace } = init;

  function contextOf({ metadata }: AcmeSigner): SolverContext {
    const namespace = metadata.namespace ?? init.clusterCredentials;
    const credential = (secret: string, key: string): Promise<Buffer> =>
      credentialOf(component, { namespace, name: secret }, key);
    const own = { ownNamespace, credentialNamespace: namespace, credential };
    const { client, clock, delay, ask, resolvers, http } = surroundings;
    const isOfCluster = metadata.namespace === undefined;
    const named = isOfCluster ? { http, askNamed: ask } : surroundings.namespaced;
    return { client, clock, delay, ask, resolvers, ...named, ...own };
  }

  return (challenge) => {
    const signer = attempt(() => watched.signerOf(challenge));
    if (signer instanceof SignerError) return problem('SignerInvalid', messageOf(signer));
    const { signerRef, solver: name } = challenge.spec;
    const settings = signer?.spec.acme.solvers.find((each) => each.name === name);
    if (signer === undefined || settings === undefined) {
      const what = signer === undefined ? messages.SIGNER_MISSING : messages.solverMissing(name);
      return problem(
        'SolverNotFound',
        messages.solverNotFound(signerRef.kind, signerRef.name, what),
      );
    }
    const notGranted = grantRefusal(challenge, http01Grants);
    if (notGranted !== undefined) return { problem: notGranted };
    const refusal = solversRefusal(signer, init.solverGrants);
    if (refusal !== undefined) return problem('SolverNotAllowed', refusal);
    if (!needsSolver(settings)) return undefined;
    return found(settings, contextOf(signer));
  };
}

function found(settings: AcmeSolver, context: SolverContext): ReturnType<SolverLookup> {
  const solver = solverOf(settings, context);
  if (solver !== undefined) return { solver };
  return problem('SolverNotSupported', messages.unsupportedSolver(settings.name));
}

function problem(reason: string, message: string): ReturnType<SolverLookup> {
  return { problem: { reason, message } };
}

/** @throws SignerError if the Secret cannot be read, or lacks the key */
async function credentialOf(
  { client }: Component,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  key: string,
): Promise<Buffer> {
  const where = messages.secretText(namespace, name);
  const { data } = await client
    .request<Secret>({ method: 'GET', path: SECRETS.object({ namespace, name }) })
    .catch((cause: unknown) => {
      const message = messages.unreadableSecret(where, messageOf(cause), namespace, name);
      throw new SignerError({ code: 'SPEC_INVALID', disposition: 'wait', message, cause });
    });
  const value = data?.[key];
  if (value === undefined || value === '') {
    const message = messages.keyMissing(where, key);
    throw new SignerError({ code: 'SPEC_INVALID', disposition: 'wait', message });
  }
  return Buffer.from(value, 'base64');
}
