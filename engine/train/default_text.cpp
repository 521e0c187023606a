// SPDX-License-Identifier: Apache-2.0
// The default text: small stories from a grammar. Each keeps its people, animal, thing and place,
// so a model has something to learn beyond spelling: agreement, and who the story is about.
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include "engine/train/data.h"
#include "kernels/base/random.h"

namespace parallelarium {
namespace {

constexpr std::size_t kBytes = 1'000'000;
constexpr std::uint64_t kKey = 2026;

constexpr auto kPeople = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"Anna", "she"},  {"Ben", "he"},    {"Clara", "she"}, {"David", "he"}, {"Emma", "she"},
     {"Felix", "he"},  {"Grace", "she"}, {"Henry", "he"},  {"Ida", "she"},  {"Jacob", "he"},
     {"Karin", "she"}, {"Leo", "he"},    {"Mia", "she"},   {"Noah", "he"},  {"Olga", "she"},
     {"Paul", "he"},   {"Rosa", "she"},  {"Simon", "he"},  {"Tina", "she"}, {"Victor", "he"}});
constexpr auto kAnimals = std::to_array<std::string_view>(
    {"cat", "dog", "bird", "horse", "fox", "rabbit", "goat", "duck", "mouse", "sheep", "frog",
     "hen", "cow", "bear", "squirrel", "turtle"});
constexpr auto kColours = std::to_array<std::string_view>(
    {"black", "white", "brown", "grey", "red", "golden", "spotted", "little", "tall", "young"});
constexpr auto kThings = std::to_array<std::string_view>(
    {"ball", "book", "basket", "lamp", "coat", "cup", "key", "letter", "apple", "hat", "box",
     "bell", "boat", "rope", "drum", "kite", "stone", "spoon"});
constexpr auto kQualities =
    std::to_array<std::string_view>({"small", "large", "new", "blue", "green", "heavy", "light",
                                     "round", "broken", "beautiful", "wooden", "yellow"});
constexpr auto kPlaces = std::to_array<std::string_view>(
    {"garden", "forest", "kitchen", "village", "river", "school", "market", "field", "house",
     "bridge", "hill", "station", "mill", "harbour"});
constexpr auto kTimes = std::to_array<std::string_view>(
    {"In the morning", "In the evening", "After lunch", "One day", "Before the rain", "At night",
     "Last winter", "In the summer", "On Sunday", "Early on Monday"});
constexpr auto kMoods = std::to_array<std::string_view>(
    {"happy", "tired", "hungry", "quiet", "brave", "careful", "curious", "proud", "sad", "glad"});
constexpr auto kMoves = std::to_array<std::string_view>(
    {"walked", "ran", "went", "came", "hurried", "returned", "travelled"});
constexpr auto kDeeds = std::to_array<std::string_view>(
    {"found", "lost", "carried", "saw", "wanted", "hid", "cleaned", "forgot", "painted", "mended"});
constexpr auto kNumbers =
    std::to_array<std::string_view>({"two", "three", "four", "five", "six", "seven", "ten"});
constexpr auto kSounds = std::to_array<std::string_view>(
    {"slept", "waited", "played", "sat", "stayed", "rested", "jumped"});

class Writer {
 public:
  std::string write() {
    while (text_.size() < kBytes) story();
    return std::move(text_);
  }

 private:
  std::uint64_t below(std::uint64_t bound) {
    return random_below(random_bits(kKey, counter_++), bound);
  }
  template <class Words>
  const typename Words::value_type& pick(const Words& words) {
    return words[below(words.size())];
  }
  void add(std::initializer_list<std::string_view> words) {
    for (const std::string_view word : words) text_ += word;
  }

  struct Cast {
    std::string_view hero, pronoun, friend_name, colour, animal, quality, thing, place, home;
  };

  void story() {
    Cast cast;
    const auto& hero = pick(kPeople);
    cast.hero = hero.first;
    cast.pronoun = hero.second;
    do cast.friend_name = pick(kPeople).first;
    while (cast.friend_name == cast.hero);
    cast.colour = pick(kColours);
    cast.animal = pick(kAnimals);
    cast.quality = pick(kQualities);
    cast.thing = pick(kThings);
    cast.home = pick(kPlaces);
    do cast.place = pick(kPlaces);
    while (cast.place == cast.home);
    add({cast.hero, " lived near the ", cast.home, " with a ", cast.colour, " ", cast.animal, "."});
    const std::uint64_t sentences = 4 + below(6);
    for (std::uint64_t sentence = 0; sentence < sentences; ++sentence) {
      text_ += ' ';
      tell(cast);
    }
    text_ += "\n\n";
  }

  void tell(const Cast& cast) {
    std::string pronoun(cast.pronoun);
    std::string capital = pronoun;
    capital[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(capital[0])));
    const std::string_view possessive = pronoun == "he" ? "his" : "her";
    switch (below(12)) {
      case 0:
        return add({pick(kTimes), " ", pronoun, " ", pick(kMoves), " to the ", cast.place, "."});
      case 1:
        return add({"The ", cast.animal, " ", pick(kSounds), " in the ", cast.home, " and was ",
                    pick(kMoods), "."});
      case 2:
        return add({capital, " ", pick(kDeeds), " a ", cast.quality, " ", cast.thing, " in the ",
                    cast.place, "."});
      case 3:
        return add({"\"Where is my ", cast.thing, "?\" asked ", cast.friend_name, "."});
      case 4:
        return add({"\"I have seen the ", cast.quality, " ", cast.thing, " near the ", cast.place,
                    ",\" said ", cast.hero, "."});
      case 5:
        return add({cast.friend_name, " and ", cast.hero, " ", pick(kMoves), " to the ", cast.place,
                    " together."});
      case 6:
        return add({"There were ", pick(kNumbers), " people in the ", cast.place, ", and ",
                    cast.hero, " was ", pick(kMoods), "."});
      case 7:
        return add({capital, " gave the ", cast.thing, " to ", cast.friend_name, ", because ",
                    pronoun, " was ", pick(kMoods), "."});
      case 8:
        return add({"But the ", cast.colour, " ", cast.animal, " ", pick(kDeeds), " ", possessive,
                    " ", cast.thing, "."});
      case 9:
        return add({"When ", cast.friend_name, " ", pick(kMoves), " to the ", cast.home, ", the ",
                    cast.animal, " ", pick(kSounds), " under the ", cast.thing, "."});
      case 10:
        return add({capital, " counted the days: ", pick(kNumbers), " before the snow, ",
                    pick(kNumbers), " after it."});
      default:
        return add({"So ", cast.hero, " took ", possessive, " ", cast.animal, " and ", pick(kMoves),
                    " home."});
    }
  }

  std::string text_;
  std::uint64_t counter_ = 0;
};

}  // namespace

const std::string& default_text() {
  static const std::string text = Writer().write();
  return text;
}

}  // namespace parallelarium
