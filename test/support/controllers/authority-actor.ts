// SPDX-License-Identifier: Apache-2.0
import type { Secret } from '../../../src/api/object/object.ts';
import { createCrossSign } from '../../../src/authorities/cross-sign.ts';
import { createManagedAuthorities } from '../../../src/authorities/managed.ts';
import { createActor, type Actor } from '../../../src/controllers/authority/apply/actor.ts';
import type { Component } from '../../../src/runtime/component/component.ts';

/** The actor of `authority` with real keys, on this component. */
export function authorityActor(
  component: Component,
  observe: (secret: Secret) => void = () => undefined,
): Actor {
  const { random } = component;
  return createActor({
    component,
    create: createManagedAuthorities(random),
    crossSign: createCrossSign(random),
    version: '1.2.3',
    observe,
  });
}
