// SPDX-License-Identifier: Apache-2.0
import type { Secret } from '#api/object/object.ts';
import { createCrossSign } from '#ca/custody/cross-sign.ts';
import { createCaRequest, createManagedAuthorities } from '#ca/custody/managed.ts';
import { createActor, type Actor } from '#trust/authority/apply/actor.ts';
import type { Component } from '#component/contract.ts';

/** The actor of `authority` with real keys, on this component. */
export function authorityActor(
  component: Component,
  observe: (secret: Secret) => void = () => undefined,
): Actor {
  const { random } = component;
  return createActor({
    component,
    create: createManagedAuthorities(random),
    createRequest: createCaRequest,
    crossSign: createCrossSign(random),
    version: '1.2.3',
    observe,
  });
}
