/** Loaded before the program (`node --import`): a wall clock that is off by TEST_CLOCK_SHIFT_MS; durations stay right. */
const shift = Number(process.env.TEST_CLOCK_SHIFT_MS);
const now = () => Reflect.apply(RealDate.now, RealDate, []) + shift;
const RealDate = Date;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, made) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, made),
  apply: (target) => new target(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
