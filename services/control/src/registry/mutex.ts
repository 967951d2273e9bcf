import { createSlots, type Slots } from '@weir/runtime/task-slots';

/**
 * Runs tasks one after the other. If every change of the registry is such a task, no other change can happen between a task's read
 * and the write that depends on it.
 */
export type RunExclusive = Slots;

export const createMutex = (): RunExclusive => createSlots(1);
