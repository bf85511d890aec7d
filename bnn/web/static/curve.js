// What must fall, against the moments of a recall: bold up to the moment shown, pale beyond it.
export default {
  template: `
    <svg class="curve" viewBox="0 0 360 190" role="img" :aria-label="label">
      <g v-for="tick in ticks" :key="tick.text">
        <line class="grid" x1="66" x2="352" :y1="tick.y" :y2="tick.y" />
        <text x="60" :y="tick.y + 4" text-anchor="end">{{ tick.text }}</text>
      </g>
      <polyline class="ahead" :points="points(values.length)" />
      <polyline class="behind" :points="points(position + 1)" />
      <circle :cx="x(position)" :cy="y(values[position])" r="5.5" />
      <text x="66" y="178">{{ first }}</text>
      <text x="352" y="178" text-anchor="end">{{ last }}</text>
      <text x="66" y="14">{{ name }}</text>
    </svg>`,
  props: { values: { type: Array, default: () => [0] }, position: { type: Number, default: 0 }, label: String, name: String, first: String, last: String },
  computed: {
    low() { return Math.min(...this.values); },
    high() { return Math.max(...this.values); },
    ticks() {
      const span = this.high - this.low;
      const shown = span > 0 ? [this.low, this.low + span / 2, this.high] : [this.low];
      const digits = span > 0 && span < 20 ? 1 : 0;
      const words = (value) => value.toLocaleString("en", { maximumFractionDigits: digits }).replace("-", "\u2212");
      return shown.map((value) => ({ y: this.y(value), text: words(value) }));
    },
  },
  methods: {
    x(moment) { return 70 + (278 * moment) / Math.max(1, this.values.length - 1); },
    y(value) { return 158 - (128 * (value - this.low)) / (this.high - this.low || 1); },
    points(count) {
      return this.values.slice(0, count).map((value, k) => `${this.x(k).toFixed(1)},${this.y(value).toFixed(1)}`).join(" ");
    },
  },
};
