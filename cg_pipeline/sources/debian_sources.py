"""The Debian packages that the embedded SAE's training text comes from, by source.

Why these: together they hold novels, quotes and jokes, dialogue, dictionaries with everyday
examples, essays, instructions and descriptions, and no source gives more than a seventh.
"""

from cg_pipeline.sources import text_readers as readers
from cg_pipeline.sources.debian_text import DebianPackage, DebianText


def _package(name: str, version: str, sha256: str) -> DebianPackage:
    return DebianPackage(name=name, version=version, sha256=sha256)


_GAMES = "usr/share/games"
_WESNOTH = {
    "utbs": "81e05717bebbfb6348c0bed2cd6ce2560c4fd9205ed419c2e7bc039b4a70e228",
    "did": "774619f5aaeb7eb4c848e1cc1758795a8c58e96bd270cceecc9d847dbcc769b3",
    "ei": "687abe111ee662b7324336ddadc209758f68d2eeb1ccbf630238f27a0e3c6404",
    "l": "5383c79046df6121929bc36a8ec3f970ab4cf9c1239ed9b31868201c27f4266d",
    "dm": "1997ad4d91e8de36415db2a3445904288f588a76d75111222d2aace409ace5c6",
    "dw": "47982e08b2a5d5fd79f400a5453f32c6d7dd56f2ccc10412a9e47dec8a9b3ca4",
    "thot": "79d9ec6e43300ea9f41295ccf3fb451e8eeaefc17007123f65d77eb05cb88695",
    "sota": "fa44304ff53d259f3c5fe13c03cb8166e55e9c307807d1a5663048c396645ba6",
    "tsg": "38b5f564253b8e0d9c093b2b7c58aabfef24f688968d9cbaf42abfc1e76d8288",
    "ttb": "d0d45693665305191488553ade8dc1d0aa26ab17d4bffae3bf6969db4a766329",
}

DEBIAN_TEXTS = (
    DebianText(
        name="austen",
        kind="novels",
        licence="MIT (text in the public domain)",
        packages=(
            _package(
                "r-cran-janeaustenr",
                "1.0.0-1",
                "df6bddf211906d1ff404f8ff662c21b34e6660e7f54a311084e749050c019c95",
            ),
        ),
        files=("usr/lib/R/site-library/janeaustenr/data/Rdata.rdb",),
        read=readers.read_plain,
        max_chars=1_400_000,
    ),
    DebianText(
        name="gcide",
        kind="dictionary",
        licence="GPL-2.0-or-later",
        packages=(
            _package(
                "dict-gcide",
                "0.48.5+nmu2",
                "7b0af5cfde3cbdef5e9d6e78f92ec335ced7c2790f37a40f49bebc6f7347ac0f",
            ),
        ),
        files=("usr/share/dictd/*.dict.dz",),
        read=readers.read_dictionary,
        max_chars=900_000,
    ),
    DebianText(
        name="wordnet",
        kind="word meanings with everyday examples",
        licence="WordNet-3.0",
        packages=(
            _package(
                "wordnet-base",
                "1:3.0-37",
                "61060d960f9ada8fa120872312eccd3ecebfbab8c4579e4f5a74e1cf67620752",
            ),
        ),
        files=("usr/share/wordnet/data.*",),
        read=readers.read_glosses,
        max_chars=1_100_000,
    ),
    DebianText(
        name="computing",
        kind="encyclopaedias of computing and its jargon",
        licence="GFDL-1.1-or-later, public domain",
        packages=(
            _package(
                "dict-foldoc",
                "20230119-1",
                "745cbedb55c2da609cc88ee0284e9d11a67a11ae3709daf7bad0e895ac3294c3",
            ),
            _package(
                "dict-jargon",
                "4.4.7-3.1",
                "405f8168d7994ed2cb71407bb95493daec2e9aa66fc0461dafa74a9d6728a8c1",
            ),
        ),
        files=("usr/share/dictd/*.dict.dz",),
        read=readers.read_dictionary,
        max_chars=700_000,
    ),
    DebianText(
        name="devil",
        kind="satirical dictionary and verse",
        licence="public domain",
        packages=(
            _package(
                "dict-devil",
                "1.0-13.1",
                "6a535684def2a1f70cd42da16d12d43f0e9dc3e54e4a329178eebab3170e3154",
            ),
        ),
        files=("usr/share/dictd/*.dict.dz",),
        read=readers.read_plain,
        max_chars=400_000,
    ),
    DebianText(
        name="fortunes",
        kind="quotes, jokes, riddles, songs, short dialogues",
        licence="BSD-4-Clause",
        packages=(
            _package(
                "fortunes",
                "1:1.99.1-7.3",
                "41d0551dc0ff52f875a2ecef7c39da2f672ab468c37e170119f7e0245a9d63c5",
            ),
            _package(
                "fortunes-min",
                "1:1.99.1-7.3",
                "9eed5b45064e41133dae0967cf3a17588ad77c014fcc7bf1527fa3ea48e44d07",
            ),
        ),
        files=(f"{_GAMES}/fortunes/*",),
        read=readers.read_fortunes,
        skip=("ascii-art", "drugs", "ethnic", "men-women", "translate-me", "zippy"),
        max_chars=1_500_000,
    ),
    DebianText(
        name="anarchism",
        kind="political essays in questions and answers",
        licence="GPL-2.0",
        packages=(
            _package(
                "anarchism",
                "15.3-3",
                "cf21c10948b00e923c62eb31c39a3390413fa26c5ee0e3b925feb0ec7fe42948",
            ),
        ),
        files=("usr/share/doc/anarchism/html/sec*.html",),
        read=readers.read_markup,
        max_chars=800_000,
    ),
    DebianText(
        name="endless_sky",
        kind="conversations of a science-fiction game",
        licence="GPL-3.0-or-later",
        packages=(
            _package(
                "endless-sky-data",
                "0.9.8-1.2",
                "e45835e05a11e84bb1a890a0ded390246a53b8318f21a25925aa70fa54f80c13",
            ),
        ),
        files=(f"{_GAMES}/endless-sky/data/*.txt",),
        read=readers.read_backticked,
        max_chars=1_000_000,
    ),
    DebianText(
        name="wesnoth",
        kind="dialogue and narration of fantasy stories",
        licence="GPL-2.0-or-later",
        packages=tuple(_package(f"wesnoth-1.16-{name}", "1:1.16.9-1", sha) for name, sha in _WESNOTH.items()),
        files=(f"{_GAMES}/wesnoth/1.16/data/campaigns/*/scenarios/*.cfg",),
        read=readers.read_translatable,
        max_chars=1_000_000,
    ),
    DebianText(
        name="cataclysm",
        kind="talk, diaries, notices and everyday objects of a survival game",
        licence="CC-BY-SA-3.0",
        packages=(
            _package(
                "cataclysm-dda-data",
                "0.F-3-9",
                "cd0c097169fe364fdb6bcdab77663d24920a063387ce2fbf1b5d3be01c141105",
            ),
        ),
        files=tuple(
            f"{_GAMES}/cataclysm-dda/json/{part}/**/*.json" for part in ("npcs", "snippets", "items")
        ),
        read=readers.read_quoted,
        skip=("TALK_TEST.json",),
        max_chars=1_200_000,
    ),
    DebianText(
        name="gnome_help",
        kind="instructions and how-to questions",
        licence="CC-BY-SA-3.0",
        packages=(
            _package(
                "gnome-user-docs",
                "43.0-2",
                "0d635a840747958ca84da778b40d341f1155603851f922c9a171f5a181d6a39f",
            ),
        ),
        files=("usr/share/help/C/**/*.page",),
        read=readers.read_markup,
        max_chars=350_000,
    ),
    DebianText(
        name="crawl",
        kind="descriptions, and quotes from world literature",
        licence="GPL-2.0-or-later",
        packages=(
            _package(
                "crawl-common",
                "2:0.28.0-1.1",
                "50c8f0091ba88538dde6585e5eddba02677bfe94d3ee4dc90a5bd3a788650f59",
            ),
        ),
        files=("usr/share/crawl/dat/descript/*.txt",),
        read=readers.read_fortunes,
        max_chars=450_000,
    ),
    DebianText(
        name="freeciv",
        kind="histories of nations",
        licence="GPL-2.0-or-later",
        packages=(
            _package(
                "freeciv-data",
                "3.0.6-1+deb12u1",
                "278bed022b87408ca9923aa727bef3d6c97875c811723e93ff95dded1b9b76b2",
            ),
        ),
        files=(f"{_GAMES}/freeciv/nation/*.ruleset", f"{_GAMES}/freeciv/helpdata.txt"),
        read=readers.read_quoted,
        max_chars=300_000,
    ),
    DebianText(
        name="dasher",
        kind="sentences of many styles, chosen to train text entry",
        licence="GPL-2.0-or-later",
        packages=(
            _package(
                "dasher-data",
                "5.0.0~beta~repack2-4",
                "6ab490f6ef1af82a8f6a2e41099953323cd34ecc057b30c4dd85cd50c28a3436",
            ),
        ),
        files=("usr/share/dasher/training_english_GB.txt",),
        read=readers.read_rows,
        max_chars=350_000,
    ),
    DebianText(
        name="adonthell",
        kind="dialogue of a detective story",
        licence="GPL-2.0-or-later",
        packages=(
            _package(
                "adonthell-data",
                "0.3.8-1",
                "2312e765b35668ba18f7f9b4cd75e8cad03e509ef1033bad7c37568cb1353adc",
            ),
        ),
        files=(f"{_GAMES}/adonthell/games/wastesedge/scripts/dialogues/*.py",),
        read=readers.read_quoted,
        max_chars=150_000,
    ),
)
"""What the embedded SAE was trained on, with the model's own transcripts."""
