// A labelled slider with its value beside it, the browser's own.
export default {
  template: `
    <label class="field slider">
      <span>{{ label }} <output>{{ told }}</output></span>
      <input type="range" :name="name" :min="min" :max="max" :step="step" :value="shown" :aria-label="label" :aria-valuetext="told"
        @pointerdown="held = true" @input="slide" @change="held = false" />
    </label>`,
  props: { label: String, name: String, min: Number, max: Number, step: Number, value: Number, told: String },
  emits: ["slide"],
  data() { return { shown: this.value, held: false }; },
  watch: { value(now) { if (!this.held) this.shown = now; } },  // what comes back late must not move the thumb
  methods: {
    slide(event) {
      this.shown = Number(event.target.value);
      this.$emit("slide", this.shown);
    },
  },
};
