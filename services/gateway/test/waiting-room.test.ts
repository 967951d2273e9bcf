import { createWaitingRoom, type Sender } from '../src/admission/waiting-room.ts';

const MAX = { records: 21_000, bytes: 210_000 };

/** Lets the sender enter until it is refused. Returns the number of its records that wait. */
function fill(sender: Sender, bytes = 0): number {
  let entered = 0;
  while (sender.enter(bytes)) entered += 1;
  return entered;
}

it('one sender gets three quarters of the room', () => {
  expect(fill(createWaitingRoom(MAX).sender('a', 'key')) / MAX.records).toBeCloseTo(16 / 21, 2);
});

it('the same is true for bytes, also for records of different sizes', () => {
  const room = createWaitingRoom(MAX);
  expect((fill(room.sender('a', 'key'), 100) * 100) / MAX.bytes).toBeCloseTo(16 / 21, 1);
  expect(room.sender('b', 'key').enter(MAX.bytes)).toBe(false);
});

it('a site that has filled its share leaves room for others, also with many keys', () => {
  const room = createWaitingRoom(MAX);
  for (let key = 0; key < 100; key++) fill(room.sender('a', `key-${key}`));
  expect(room.waiting() / MAX.records).toBeCloseTo(0.8, 2);
  expect(fill(room.sender('b', 'key'))).toBeGreaterThan(3_000);
  expect(fill(room.sender('c', 'key'))).toBeGreaterThan(500);
});

it('the hits of a site leave room for its server events', () => {
  const room = createWaitingRoom(MAX);
  fill(room.sender('a', ''));
  expect(fill(room.sender('a', 'key'))).toBeGreaterThan(500);
});

it('two sites that always send get equal shares after some time', () => {
  const room = createWaitingRoom(MAX);
  const [first, second] = [room.sender('a', 'key'), room.sender('b', 'key')];
  let waiting = [fill(first), fill(second)];
  for (let turn = 0; turn < 100; turn++) {
    const left = waiting.map((count) => Math.ceil(count / 10));
    [first, second].forEach((sender, index) => {
      for (let n = left[index] ?? 0; n > 0; n--) sender.leave(0);
    });
    const entered = [0, 0];
    let open = true;
    while (open) {
      const admitted = [first, second].map((sender) => sender.enter(0));
      admitted.forEach((isIn, index) => {
        if (isIn) entered[index] = (entered[index] ?? 0) + 1;
      });
      open = admitted.includes(true);
    }
    waiting = waiting.map((count, index) => count - (left[index] ?? 0) + (entered[index] ?? 0));
  }
  const [a = 0, b = 0] = waiting;
  expect(a / b).toBeCloseTo(1, 1);
});

it('a sender can use the whole share again when its records have left', () => {
  const room = createWaitingRoom(MAX);
  const sender = room.sender('a', 'key');
  const entered = fill(sender, 1);
  for (let n = 0; n < entered; n++) sender.leave(1);
  expect(room.waiting()).toBe(0);
  expect(fill(sender, 1)).toBe(entered);
});

it('forgets sites without waiting records when there are too many sites, also while another site has one', () => {
  const room = createWaitingRoom(MAX);
  room.sender('busy', '').enter(1);
  for (let n = 0; n < 10_000; n++) {
    const sender = room.sender(`site_${n}`, '');
    sender.enter(1);
    sender.leave(1);
  }
  const sender = room.sender('another', '');
  sender.enter(1);
  sender.leave(1);
  expect(room.sender('another', '')).not.toBe(sender);
});

it('forgets sites whose records were all refused when there are too many sites', () => {
  const room = createWaitingRoom(MAX);
  for (let n = 0; n < 10_000; n++) room.sender(`site_${n}`, '').enter(MAX.bytes + 1);
  const sender = room.sender('another', '');
  expect(sender.enter(MAX.bytes + 1)).toBe(false);
  expect(room.sender('another', '')).not.toBe(sender);
});
